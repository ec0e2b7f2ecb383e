/* c-blosc with BloscLZ alone: no other codec is built in. */
