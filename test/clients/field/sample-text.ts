/**
 * Generates sample strings for a schema: a string for its format, or the first of several
 * candidates that matches its pattern.
 */
import { RE2JS } from 're2js'
import type { Fields } from '../every-kind.ts'

const byFormat: ReadonlyMap<string, string> = new Map([
  ['date-time', '2026-01-02T03:04:05Z'],
  ['date', '2026-01-02'],
  ['duration', '5m'],
  ['byte', 'c2FtcGxl'],
  ['uri', 'https://sample.example.com/path'],
  ['url', 'https://sample.example.com/path'],
  ['hostname', 'sample.example.com'],
  ['email', 'sample@example.com'],
  ['ipv4', '192.0.2.1'],
  ['ip', '192.0.2.1'],
  ['ipv6', '2001:db8::1'],
  ['cidr', '192.0.2.0/24'],
  ['mac', '02:00:00:00:00:01'],
  ['uuid', '7d444840-9dc0-11d1-b245-5ffdce74fad2'],
])

/** Candidates: typical values, starting with the simplest. */
const candidates: readonly string[] = [
  'sample',
  'Sample',
  'SAMPLE',
  'sample.example.com',
  'example.com/sample',
  'https://sample.example.com',
  'http://sample.example.com',
  'https://sample.example.com/path',
  'oci://sample.example.com/chart',
  'ssh://git@example.com/sample.git',
  '5m',
  '5m0s',
  '1h',
  '1',
  '10',
  '10%',
  '8080',
  '1.5',
  '0.5',
  '1.2.3',
  'v1.2.3',
  '10Mi',
  '100m',
  '192.0.2.1',
  '192.0.2.0/24',
  '2001:db8::1',
  '2001:db8::/64',
  '02:00:00:00:00:01',
  '7d444840-9dc0-11d1-b245-5ffdce74fad2',
  '2026-01-02T03:04:05Z',
  '10:00',
  '0 0 * * *',
  '/sample',
  '/',
  '*',
  '+1',
  'us-east-1',
  'ami-0123456789abcdef0',
  'arn:aws:iam::123456789012:role/sample',
  'https://queue.amazonaws.com/123456789012/sample',
  'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
  'MANAGED',
  'a=b',
  '{}',
  '',
]

export type TextSample = { readonly text: string } | { readonly unknown: string }

/**
 * Returns a string for a schema. Different values of `index` yield different strings, so that the
 * items of a list differ.
 */
export function sampleText(schema: Fields, index: number): TextSample {
  const { format, pattern, minLength, maxLength } = schema
  const least = typeof minLength === 'number' ? minLength : 0
  const most = typeof maxLength === 'number' ? maxLength : Number.MAX_SAFE_INTEGER
  const formatted = byFormat.get(String(format))
  const texts = formatted === undefined ? candidates : [formatted, ...candidates]
  const fitting = texts
    .map((text) => text.padEnd(least, 'a'))
    .filter((text) => text.length <= most)
    .concat('s', 'aa'.slice(0, least))
  const taken = typeof pattern === 'string' ? matching(fitting, pattern, least) : fitting
  const [first] = taken
  if (first === undefined) return { unknown: `no candidate matches the pattern ${String(pattern)}` }
  if (index === 0) return { text: first }
  const numbered =
    typeof pattern === 'string'
      ? matching([`${first}${index}`], pattern, least)
      : [`${first}${index}`]
  return { text: formatted === undefined ? (numbered[0] ?? taken[index] ?? first) : first }
}

/** Returns the candidates that match a pattern in Go's syntax, as a server evaluates it. */
function matching(texts: readonly string[], pattern: string, least: number): readonly string[] {
  const compiled = RE2JS.compile(pattern)
  return texts.filter((text) => text.length >= least && compiled.matcher(text).find())
}
