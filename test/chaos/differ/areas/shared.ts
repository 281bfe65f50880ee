/**
 * Defines one custom kind that all cases of the areas `reads` and `apply` share, because creating a
 * definition is slow.
 */
import { readObject } from '../data.ts'
import type { Step } from '../step.ts'
import { DEFINITIONS } from './widgets.ts'

export const SHARED = '/apis/shared.example.com'

export const sharedSteps: readonly Step[] = [
  { id: 'shared', method: 'POST', path: DEFINITIONS, body: readObject('shared-definition.json') },
  { id: 'ready', method: 'GET', path: `${SHARED}/v1/namespaces/default/shareds`, wait: true },
  { id: 'ready', method: 'GET', path: `${SHARED}/v2/namespaces/default/shareds`, wait: true },
]
