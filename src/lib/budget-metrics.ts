/** What clients make the server hold, and how often there was no room for more. */
import type { ByteBudget } from './byte-budget.ts'
import type { Metrics } from './metrics.ts'

export function addBudgetMetrics(metrics: Metrics, budget: ByteBudget): void {
  const bytes = metrics.gauge({
    name: 'keelson_request_memory_bytes',
    help: 'What requests and answers are taken to hold: now, at the most so far, and what they may hold.',
    labels: ['state'],
  })
  const refused = metrics
    .counter({
      name: 'keelson_request_memory_refused_total',
      help: 'How often a request or an answer found no room.',
    })
    .with()
  metrics.onPrint(() => {
    bytes.with('used').value = budget.used
    bytes.with('peak').value = budget.peak
    bytes.with('max').value = budget.max
    refused.value = budget.refused
  })
}
