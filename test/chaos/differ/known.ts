/**
 * Intentional differences from kube-apiserver. They are removed from both responses before the
 * comparison, so that they do not hide other differences. Each is a row of docs/differences.md,
 * identified by its first column; known.test.ts checks that the row exists.
 */
import { diff } from '../../recorded/compat/diff.ts'
import { isRecord, type Json } from '../../recorded/compat/json.ts'
import { type JsonPosition, places, valueAt } from './json-positions.ts'
import type { Step } from './step.ts'

export type KnownText = { readonly row: string; readonly what: RegExp; readonly by: string }
export type KnownDifference = {
  readonly row: string
  readonly holds: (compared: ComparedStep) => boolean
}
export type ComparedStep = { readonly step: Step; readonly want: Json; readonly got: Json }

/** Parts of error messages that are replaced by placeholders before the comparison. */
export const knownTexts: readonly KnownText[] = [
  {
    row: 'Go values in messages look like `core.Thing{A:1, …}`.',
    what: /(Invalid value: )(?:\[\])?\w+\.\w+\{(?:(?!: field is immutable).)*\}(?=: )/gs,
    by: '$1<struct>',
  },
  {
    row: 'A message may contain a Go diff of two objects.',
    what: /((?:spec is immutable after creation except [^\n]*|spec\.persistentvolumesource is immutable after creation))\n[\s\S]*$/g,
    by: '$1<diff>',
  },
  {
    row: 'A message may contain a Go diff of two objects.',
    what: /(pod updates may not change fields other than [^\n]*)\n(?:(?!, spec\.|, metadata\.|\]$)[\s\S])*/g,
    by: '$1<diff>',
  },
]

/** Known differences that concern a whole response. */
export const knownDifferences: readonly KnownDifference[] = [
  {
    row: 'A request that makes the server panic gets no response.',
    holds: ({ want }) => statusOf(want) === 0,
  },
  {
    row: 'A dry run of a Service with a node port shows a port outside of the range and accepts such a port.',
    holds: ({ step, want, got }) =>
      step.query?.['dryRun'] === 'All' &&
      (diff(want, got).every((line) => /[nN]odePort: expected/.test(line)) ||
        /provided port is not in the valid range/.test(JSON.stringify(got))),
  },
  {
    row: 'A watch from a version before the server started gets 410, because its cache does not reach back.',
    holds: ({ step, want }) =>
      step.query?.['watch'] !== undefined && /"code":410\b/.test(JSON.stringify(want)),
  },
  {
    row: 'A JSON patch that tests a string with `<`, `>` or `&` fails, because it compares escaped with plain text.',
    holds: ({ step, want, got }) =>
      step.type === 'application/json-patch+json' &&
      /"op":"test"[^}]*[<>&]/.test(JSON.stringify(step.body)) &&
      statusOf(want) !== statusOf(got),
  },
  {
    row: 'An update of an autoscaler with a behavior annotation that changes nothing writes again.',
    holds: ({ step, want, got }) =>
      step.path.includes('/horizontalpodautoscalers') &&
      /autoscaling\.alpha\.kubernetes\.io\/behavior/.test(JSON.stringify(got)) &&
      diff(want, got).every((line) => line.startsWith('$.body.metadata.resourceVersion: expected')),
  },
  {
    row: 'A strategic patch of a ControllerRevision whose data has unsorted keys is rejected, because sorting counts as a change.',
    holds: ({ step, want }) =>
      step.path.includes('/controllerrevisions/') &&
      step.type === 'application/strategic-merge-patch+json' &&
      /"field":"data","message":"Invalid value: [^"]*: field is immutable"/.test(
        JSON.stringify(want),
      ),
  },
  {
    row: 'A null that was applied as a label or annotation of a custom object is stored. The next write creates a new version, although it changes nothing.',
    holds: ({ step, want, got }) =>
      step.path.includes('.example.com/') &&
      diff(want, got).every((line) =>
        line.startsWith('$.body.metadata.resourceVersion: expected'),
      ) &&
      /"(?:labels|annotations)":\{[^{}]*:""/.test(JSON.stringify(got)),
  },
  {
    row: 'A custom object that was applied with unknown fields is stored with them. The next write creates a new version, although it changes nothing.',
    holds: ({ step, want, got }) =>
      step.path.includes('.example.com/') &&
      diff(want, got).every((line) =>
        /^\$\.body\.metadata\.(?:resourceVersion|generation): expected/.test(line),
      ) &&
      hasPrunedOwner(valueAt(got, ['body'])),
  },
  {
    row: 'A dry run of the second deletion of an object returns an empty object.',
    holds: ({ step, want, got }) =>
      step.method === 'DELETE' &&
      JSON.stringify(step).includes('dryRun') &&
      statusOf(want) === statusOf(got) &&
      JSON.stringify(valueAt(want, ['body', 'metadata'])) === '{"creationTimestamp":null}',
  },
  {
    row: 'A list that is at least as new as a version has the version of the last change in its cache.',
    holds: ({ step, want, got }) =>
      step.method === 'GET' &&
      step.query?.['resourceVersion'] !== undefined &&
      Array.isArray(valueAt(got, ['body', 'items'])) &&
      diff(want, got).every((line) => line.startsWith('$.body.metadata.resourceVersion: expected')),
  },
  {
    row: 'A null that was applied as the status of a custom object is stored. The next write removes it and creates a new version.',
    holds: ({ want, got }) =>
      diff(want, got).every((line) =>
        line.startsWith('$.body.metadata.resourceVersion: expected'),
      ) &&
      JSON.stringify(got).includes('"f:status":{}') &&
      valueAt(got, ['body', 'status']) === undefined,
  },
  {
    row: 'A hardware address without separators (format `mac`) is valid if the server was built with a Go newer than 1.24.',
    holds: ({ want, got }) => {
      const causes = causesOf(got)
      const rest = causes.filter((cause) => !bareAddress.test(JSON.stringify(cause)))
      // If Keelson rejects the format of an address, it also reports that the validation rules were
      // not checked.
      const others = rest.every((cause) => JSON.stringify(cause).includes(NOT_CHECKED)) ? [] : rest
      const isSame = JSON.stringify(others) === JSON.stringify(causesOf(want))
      return (
        others.length < causes.length &&
        isSame &&
        (others.length === 0 ? statusOf(want) < 300 : statusOf(want) === statusOf(got))
      )
    },
  },
  {
    row: '`==` with a sum or difference of quantities on the right always fails.',
    holds: ({ want, got }) => {
      const [wanted, came] = [want, got].map((answer) =>
        causesOf(answer).map((cause) => JSON.stringify(cause)),
      )
      const failing = wanted?.filter((cause) => came?.includes(cause) !== true) ?? []
      const others = came?.filter((cause) => wanted?.includes(cause) !== true) ?? []
      return (
        failing.length > 0 &&
        failing.every((cause) =>
          /'no such overload'.* for rule: .*==.*\.(?:add|sub)\(/.test(cause),
        ) &&
        others.every((cause) => /failed rule: .*==.*\.(?:add|sub)\(/.test(cause))
      )
    },
  },
  {
    row: 'An ExternalName Service stores an `internalTrafficPolicy` and hides it. It comes back when the type changes to ClusterIP.',
    holds: ({ step, want, got }) => {
      const lines = diff(want, got)
      return (
        step.path.includes('/services') &&
        (/"type":/.test(step.method === 'PATCH' ? JSON.stringify(step.body) : '') ||
          JSON.stringify(got).includes('"type":"ExternalName"')) &&
        lines.some((line) => line.includes('internalTrafficPolicy: ')) &&
        lines.every((line) =>
          /internalTrafficPolicy: |^\$\.body\.metadata\.resourceVersion: expected/.test(line),
        )
      )
    },
  },
  {
    row: 'A custom object with a list where its schema has a string with a format loses its managedFields at an update.',
    holds: ({ step, want, got }) =>
      step.path.includes('.example.com/') &&
      diff(want, got).every((line) =>
        line.startsWith('$.body.metadata.managedFields: not expected'),
      ) &&
      ['spec', 'status'].some((part) =>
        JSON.stringify(valueAt(got, ['body', part]) ?? null).includes('['),
      ),
  },
  {
    row: 'A strategic patch with a list and items to delete from it: either comes first, at random.',
    holds: ({ step }) =>
      step.type === 'application/strategic-merge-patch+json' &&
      [...places(step.body ?? null)].some(hasBoth),
  },
]

const causesOf = (answer: Json): readonly Json[] => {
  const causes = valueAt(answer, ['body', 'details', 'causes'])
  return Array.isArray(causes) ? causes : []
}

const NOT_CHECKED = 'some validation rules were not checked'
const bareAddress = /must be of type mac: \\+"(?:[0-9a-f]{12}|[0-9a-f]{16}|[0-9a-f]{40})\\+"/i

const hasBoth = ({ value }: JsonPosition): boolean =>
  isRecord(value) &&
  Object.keys(value).some(
    (key) => key.startsWith(DELETE) && Object.hasOwn(value, key.slice(DELETE.length)),
  )

const DELETE = '$deleteFromPrimitiveList/'

export const DESCRIPTIONS_ROW =
  '`kubectl explain` and table columns have the descriptions of Kubernetes.'

export const NOT_ENFORCED_ROW =
  'A mutating admission policy is stored without a warning while its gate is off.'

/** Whether this is a warning that only Keelson sends. */
export const isKnownWarning = (warning: string): boolean =>
  warning.includes('is stored but not enforced')

export const isKnown = (compared: ComparedStep): boolean =>
  knownDifferences.some(({ holds }) => holds(compared))

export function withoutKnown(value: Json, key = ''): Json {
  if (typeof value === 'string') {
    return key === 'message'
      ? knownTexts.reduce((text, { what, by }) => text.replace(what, by), value)
      : value
  }
  if (Array.isArray(value)) return value.map((entry) => withoutKnown(entry, key))
  if (!isRecord(value)) return value
  const kept = Object.entries(value).filter(
    ([name]) => !(key === 'columnDefinitions' && name === 'description'),
  )
  return Object.fromEntries(kept.map(([name, entry]) => [name, withoutKnown(entry, name)]))
}

/** Whether managedFields contain a field that a manager has applied, but that the object lacks. */
function hasPrunedOwner(body: Json | undefined): boolean {
  const entries = valueAt(body, ['metadata', 'managedFields'])
  if (!Array.isArray(entries)) return false
  return entries.some(
    (entry: Json) =>
      valueAt(entry, ['operation']) === 'Apply' && isMissing(valueAt(entry, ['fieldsV1']), body),
  )
}

function isMissing(fields: Json | undefined, value: Json | undefined): boolean {
  if (!isRecord(fields)) return false
  return Object.entries(fields).some(([element, below]) => {
    const name = /^f:(.*)$/.exec(element)?.[1]
    if (name === undefined) return false
    return !isRecord(value) || !Object.hasOwn(value, name) || isMissing(below, value[name])
  })
}

export const statusOf = (answer: Json): number =>
  isRecord(answer) && typeof answer['status'] === 'number' ? answer['status'] : 0
