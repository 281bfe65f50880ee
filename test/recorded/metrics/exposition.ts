/** Parses the Prometheus text format: the description of each metric, and its samples. */
export type MetricDescription = {
  readonly type: string
  readonly stability?: string
  readonly labels: readonly string[]
  readonly buckets?: readonly number[]
}

export type Sample = {
  readonly name: string
  readonly labels: { readonly [name: string]: string }
  readonly value: number
}

const samplePattern = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/
const labelPattern = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g

export function readSamples(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = samplePattern.exec(line) ?? []
    if (name === undefined || line.startsWith('#')) return []
    const pairs = [...labels.matchAll(labelPattern)].map(
      ([, label = '', quoted = '']) => [label, quoted] as const,
    )
    return [
      {
        name,
        labels: Object.fromEntries(pairs),
        value: value === '+Inf' ? Infinity : Number(value),
      },
    ]
  })
}

/** Returns the metrics that have a sample, by name. */
export function describeMetrics(text: string): { [name: string]: MetricDescription } {
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  )
  const levels = new Map(
    [...text.matchAll(/^# HELP (\S+) \[(\w+)\]/gm)].map(([, name = '', level = '']) => [
      name,
      level,
    ]),
  )
  const labels = new Map<string, Set<string>>()
  const bounds = new Map<string, Set<number>>()
  for (const sample of readSamples(text)) {
    const name = types.has(sample.name)
      ? sample.name
      : sample.name.replace(/_(bucket|sum|count)$/, '')
    const known = labels.get(name) ?? new Set()
    labels.set(name, known)
    for (const label of Object.keys(sample.labels))
      if (label !== 'le' && label !== 'quantile') known.add(label)
    const { le } = sample.labels
    if (le === undefined || le === '+Inf') continue
    bounds.set(name, (bounds.get(name) ?? new Set()).add(Number(le)))
  }
  return Object.fromEntries(
    [...labels]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, names]) => {
        const stability = levels.get(name)
        const buckets = bounds.get(name)
        return [
          name,
          {
            type: types.get(name) ?? 'untyped',
            ...(stability === undefined ? {} : { stability }),
            labels: [...names].toSorted(),
            ...(buckets === undefined ? {} : { buckets: [...buckets].toSorted((a, b) => a - b) }),
          },
        ]
      }),
  )
}
