/**
 * Intentional differences between Keelson and nghttp2, the HTTP/2 library of Node.js. If the two
 * servers react differently to a sequence of frames, the sequence is shortened first. The
 * difference is intentional if an entry matches the names of the remaining frames and both
 * verdicts.
 */
export type Difference = {
  /** Matches the names of the frames that remain when the sequence has been shortened. */
  readonly steps: RegExp
  readonly ours: RegExp
  readonly theirs: RegExp
  readonly why: string
}

export const differences: readonly Difference[] = [
  {
    steps: /^(GET|POST): (an empty name|LF in a value|NUL in a value)$/,
    ours: /RST_STREAM 1"/,
    theirs: /open/,
    why: 'nghttp2 ignores such a field; by RFC 9113, section 8.2.1, the request is malformed.',
  },
  {
    steps: /^(GET|POST): another host$/,
    ours: /RST_STREAM 1"/,
    theirs: /open/,
    why: 'By RFC 9113, section 8.3.1, a server should treat a Host that differs from :authority as malformed.',
  },
  {
    steps: /^(GET|POST): no authority$/,
    ours: /open/,
    theirs: /RST_STREAM 1"/,
    why: "RFC 9113, section 8.3.1, allows a request without a host, and Go's server accepts it.",
  },
  {
    steps: /^(GET|POST)[^|]* \| WINDOW_UPDATE of 0 on a stream$/,
    ours: /open.*RST_STREAM 1"/,
    theirs: /GOAWAY 1/,
    why: 'By RFC 9113, section 6.9, this is a stream error; nghttp2 ends the connection.',
  },
  {
    steps: /^PING acknowledgement$/,
    ours: /open/,
    theirs: /GOAWAY 1/,
    why: 'Node.js treats an unexpected acknowledgement as an attack; by RFC 9113, it is not an error. In Keelson, only many of them end the connection.',
  },
  {
    steps: /PRIORITY (on stream 0|of a wrong size|that depends on itself)$/,
    ours: /GOAWAY [16]|RST_STREAM/,
    theirs: /open/,
    why: 'nghttp2 ignores PRIORITY; by RFC 9113, section 6.3, these are still errors, and h2spec tests them.',
  },
  {
    steps: /HEADERS that depend on themselves$/,
    ours: /GOAWAY 1|RST_STREAM 1"/,
    theirs: /open/,
    why: 'nghttp2 also ignores the priority in HEADERS.',
  },
  {
    steps:
      /(^|\| )DATA on any stream$|(GET|DATA and end|trailers|RST_STREAM|on any stream|: [a-z -]+).* \| DATA( and end)?$/,
    ours: /GOAWAY 5/,
    theirs: /open/,
    why: 'DATA on a stream that its client has ended, or never began: RFC 9113, section 5.1, allows both reactions. nghttp2 forgets such streams.',
  },
  {
    steps: /^GET[^|]* \| DATA on any stream$/,
    ours: /open.*RST_STREAM 5"/,
    theirs: /GOAWAY 5/,
    why: 'DATA on a half-closed stream without a response yet: a stream error of STREAM_CLOSED by RFC 9113, section 5.1.',
  },
  {
    steps: /^(POST|GET|HEADERS).*(HEADERS on any stream|POST|GET)/,
    ours: /open.*RST_STREAM 5"/,
    theirs: /GOAWAY 5/,
    why: 'HEADERS on a half-closed stream: a stream error of STREAM_CLOSED by RFC 9113, section 5.1; nghttp2 ends the connection.',
  },
  {
    steps:
      /(GET|DATA and end|trailers|RST_STREAM|HEADERS|: [a-z -]+)[^|]*( \| [^|]+)* \| (HEADERS on any stream|trailers)$/,
    ours: /GOAWAY 5/,
    theirs: /open/,
    why: 'HEADERS on a closed stream: a connection error of STREAM_CLOSED by RFC 9113, section 5.1. nghttp2 forgets such streams.',
  },
  {
    steps: /^(GET|POST|HEADERS)[^|]*( \| [^|]+)* \| (HEADERS on any stream|trailers)$/,
    ours: /GOAWAY 1/,
    theirs: /open/,
    why: 'HEADERS on a lower stream than the last one, and which never began: a connection error of PROTOCOL_ERROR by RFC 9113, section 5.1.1.',
  },
  {
    steps: /WINDOW_UPDATE too large on a stream$/,
    ours: /open.*RST_STREAM [13]"/,
    theirs: /GOAWAY 3/,
    why: 'By RFC 9113, section 6.9.1, this is a stream error, except on a stream that was reset; nghttp2 ends the connection.',
  },
  {
    steps: /^(POST with content-length|GET: content-length).*DATA/,
    ours: /open.*RST_STREAM 1"/,
    theirs: /GOAWAY 2/,
    why: 'More body than content-length says: malformed, so a stream error (RFC 9113, section 8.1.1). Node.js ends the connection with an internal error.',
  },
]
