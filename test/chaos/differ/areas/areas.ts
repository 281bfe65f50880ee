/** The generators of test cases. Each generator tests one area, such as `cel` or `apply`. */
import { applyCase } from './apply.ts'
import { celCase, costCase } from './cel.ts'
import { crdsCase } from './crds.ts'
import type { Area } from './input.ts'
import { objectsCase } from './objects.ts'
import { probes, probesCase } from './probes.ts'
import { readsCase } from './reads.ts'

export const areas: { readonly [name: string]: Area } = {
  objects: objectsCase,
  apply: applyCase,
  reads: readsCase,
  crds: crdsCase,
  cel: celCase,
  cost: costCase,
  probes: probesCase('probes'),
  'object-probes': probesCase('object-probes'),
}

/**
 * Number of test cases of an area. The number is limited only for areas that read their cases from
 * a list.
 */
export const casesMax = (area: string): number => probes[area]?.length ?? Number.POSITIVE_INFINITY
