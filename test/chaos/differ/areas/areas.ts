/** The generators of test cases, by area name. */
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
 * Number of cases of an area. Only areas that read their cases from a list have a limited number.
 */
export const casesMax = (area: string): number => probes[area]?.length ?? Number.POSITIVE_INFINITY
