/**
 * Maximum length of an Origin header, which consists of a scheme, a name of at most 253 characters
 * and a port. The limit bounds the time of pattern matching.
 */
export const ORIGIN_LENGTH_MAX = 300
