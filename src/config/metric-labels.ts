/** `--allow-metric-labels`: `"metric,label=value,value"`, each in quotes, since it has commas. */
import type { AllowedLabels } from '../lib/metrics.ts'
import type { Values } from './values.ts'

export function readMetricLabels(values: Values): AllowedLabels {
  const allowed = new Map<string, ReadonlySet<string>>()
  for (const pair of values.slice('allow-metric-labels')) {
    const [, metric, label, list] = /^\s*([^,=\s]+),([^,=\s]+)\s*=(.*)$/s.exec(pair) ?? []
    if (metric === undefined || label === undefined || list === undefined) {
      const wanted = 'it should be metric,label=value,value in quotes'
      values.fault(`invalid argument ${JSON.stringify(pair)} for "--allow-metric-labels": ${wanted}`)
      continue
    }
    allowed.set(`${metric},${label}`, new Set(list.split(',').map((value) => value.trim())))
  }
  return allowed
}
