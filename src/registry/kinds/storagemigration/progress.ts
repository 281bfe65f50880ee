/** Rules for the progress of a StorageVersionMigration, which its conditions report. */
import { type Fields, fieldsOf, itemsOf, type KubeObject } from '../../../api/object.ts'

/** Returns the reasons why the conditions contradict each other or the stored conditions. */
export function faultsOfProgress(object: KubeObject, current: KubeObject): string[] {
  const is = (type: string): boolean => isTrue(conditionsOf(object), type)
  const was = (type: string): boolean => isTrue(conditionsOf(current), type)
  const [hasSucceeded, hasFailed, isRunning] = [is('Succeeded'), is('Failed'), is('Running')]
  return [
    ...(hasSucceeded && hasFailed
      ? ['Both success and failed conditions cannot be true at the same time']
      : []),
    ...(hasSucceeded && isRunning
      ? ['Running condition cannot be true when success condition is true']
      : []),
    ...(hasFailed && isRunning
      ? ['Running condition cannot be true when failed condition is true']
      : []),
    ...(was('Succeeded') && !hasSucceeded
      ? ['Success condition cannot be set to false once it is true']
      : []),
    ...(was('Failed') && !hasFailed
      ? ['Failed condition cannot be set to false once it is true']
      : []),
  ]
}

const conditionsOf = ({ status }: KubeObject): readonly Fields[] =>
  itemsOf(fieldsOf(status)['conditions'])

const isTrue = (conditions: readonly Fields[], type: string): boolean =>
  conditions.find((one) => one['type'] === type)?.['status'] === 'True'
