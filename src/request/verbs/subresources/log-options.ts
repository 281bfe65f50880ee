/** Parses the options of pods/log. */
import { badRequest, invalid } from '../../../api/errors.ts'
import {
  type FieldFault,
  forbiddenField,
  invalidValue,
  notSupported,
} from '../../../api/field-fault.ts'
import type { Gates } from '../../../api/gates.ts'
import { quote } from '../../../api/quote.ts'
import { parseBoolean, parseExactInteger } from '../options.ts'

/**
 * Returns the query for the kubelet. Fails with BadRequest if a value cannot be parsed, and with
 * Invalid if a value is out of range.
 */
export function parseLogOptions(
  query: URLSearchParams,
  podName: string,
  gates: Gates,
): URLSearchParams {
  const tailLines = parseCount(query.get('tailLines'))
  const sinceSeconds = parseCount(query.get('sinceSeconds'))
  const limitBytes = parseCount(query.get('limitBytes'))
  const sinceTime = parseTime(query.get('sinceTime'))
  const faults: FieldFault[] = []
  if (tailLines !== undefined && tailLines < 0n) {
    faults.push(invalidValue('tailLines', tailLines, 'must be greater than or equal to 0'))
  }
  if (limitBytes !== undefined && limitBytes < 1n) faults.push(tooSmall('limitBytes', limitBytes))
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    faults.push(
      forbiddenField('[]', 'at most one of `sinceTime` or `sinceSeconds` may be specified'),
    )
  } else if (sinceSeconds !== undefined && sinceSeconds < 1n)
    faults.push(tooSmall('sinceSeconds', sinceSeconds))
  const hasStreams = gates.isOn('PodLogsQuerySplitStreams')
  const stream = query.get('stream') ?? (hasStreams ? 'All' : undefined)
  if (!hasStreams && stream !== undefined)
    faults.push(forbiddenField('stream', 'may not be specified'))
  if (hasStreams && stream !== undefined) {
    if (!streams.includes(stream)) faults.push(notSupported('stream', stream, streams))
    if (stream !== 'All' && tailLines !== undefined) {
      faults.push(
        forbiddenField('[]', '`tailLines` and specific `stream` are mutually exclusive for now'),
      )
    }
  }
  if (faults.length > 0) throw invalid({ group: '', kind: 'PodLogOptions' }, podName, faults)
  const flags = ['follow', 'previous', 'timestamps'].filter((flag) => parseBoolean(query.get(flag)))
  const given = ['sinceSeconds', 'sinceTime', 'tailLines', 'limitBytes'].flatMap(
    (option): [string, string][] => {
      const value = query.get(option)
      return value === null || value === '' ? [] : [[option, value]]
    },
  )
  const named: [string, string][] = stream === undefined ? [] : [['stream', stream]]
  return new URLSearchParams([
    ...flags.map((flag): [string, string] => [flag, 'true']),
    ...given,
    ...named,
  ])
}

const streams = ['All', 'Stderr', 'Stdout']

const tooSmall = (path: string, value: bigint): FieldFault =>
  invalidValue(path, value, 'must be greater than 0')

function parseCount(text: string | null): bigint | undefined {
  const count = text === '' ? undefined : parseExactInteger(text)
  return count === undefined ? undefined : BigInt(count)
}

const timeForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/

function parseTime(text: string | null): string | undefined {
  if (text === null || text === '') return undefined
  if (timeForm.test(text) && !Number.isNaN(Date.parse(text))) return text
  throw badRequest(
    `parsing time ${quote(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ${quote(text)} as "2006"`,
  )
}
