"""The bytes of debug sections: numbers, strings, attribute forms, and abbreviation tables."""
