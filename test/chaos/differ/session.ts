/**
 * A session with one server during one case. Sends the steps, stores the responses to which later
 * steps refer, and cleans up.
 */
import type { Json } from '../../recorded/compat/json.ts'
import { Comparer } from './compare.ts'
import { valueAt } from './json-positions.ts'
import type { Answer, Step, Variables } from './step.ts'
import type { Target } from './target.ts'

/**
 * Namespaced resources whose objects could affect other cases. For example, Services take cluster
 * IPs and node ports from ranges that all cases share.
 */
const HELD_IN_COMMON = /\/(services|resourcequotas|limitranges)\b/

export class Session {
  readonly #target: Target
  readonly #variables: Variables
  readonly #comparer: Comparer

  constructor(target: Target, namespace: string) {
    this.#target = target
    this.#variables = { ns: namespace, answers: new Map() }
    this.#comparer = new Comparer(namespace)
  }

  async begin(): Promise<void> {
    await this.send({
      id: 'ns',
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { metadata: { name: '$ns' } },
    })
  }

  async send(step: Step): Promise<Answer> {
    const answer = await this.#target.send(step, this.#variables)
    this.#variables.answers.set(step.id, answer.body)
    return answer
  }

  normalise(answer: Answer): Json {
    return this.#comparer.normalise(answer)
  }

  /**
   * Deletes objects that could affect other cases. Cluster-scoped objects could conflict with those
   * of other cases, and custom kinds slow down all other cases.
   */
  async end(steps: readonly Step[]): Promise<void> {
    for (const path of new Set(steps.map((step) => this.#written(step)))) {
      if (path === undefined) continue
      const answer = await this.send({
        id: 'end',
        method: 'DELETE',
        path,
        query: { gracePeriodSeconds: '0' },
      })
      const isHeld = answer.status === 200 && JSON.stringify(answer.body).includes('"finalizers"')
      const body = { metadata: { finalizers: null } }
      if (isHeld)
        await this.send({
          id: 'end',
          method: 'PATCH',
          path,
          type: 'application/merge-patch+json',
          body,
        })
    }
  }

  /**
   * Returns the path of the object that a step created, if deleting the namespace does not delete
   * this object.
   */
  #written({ id, method, path, query }: Step): string | undefined {
    if (path.includes('/namespaces/$ns') && !HELD_IN_COMMON.test(path)) return undefined
    if (!['POST', 'PUT', 'PATCH'].includes(method) || query?.['dryRun'] === 'All') return undefined
    if (method !== 'POST') return path.replace(/\/(status|scale|finalize)$/, '')
    const name = valueAt(this.#variables.answers.get(id), ['metadata', 'name'])
    return typeof name === 'string' ? `${path}/${name}` : undefined
  }
}

/**
 * Yields names of namespaces. All names have the same length, because some length limits include
 * the name of the namespace.
 */
export function* namespaces(): Generator<string, never> {
  const run = (Date.now() % 36 ** 3).toString(36).padStart(3, '0')
  for (let count = 0; ; count++) yield `f${run}${count.toString(36).padStart(5, '0')}`
}
