"""What is kept from one release for the next: values, and notes of what they depend on."""
