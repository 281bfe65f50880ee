/**
 * Maximum length of an Origin header, which has a scheme, a name of at most 253 characters and a
 * port. It bounds the time that patterns take.
 */
export const ORIGIN_LENGTH_MAX = 300
