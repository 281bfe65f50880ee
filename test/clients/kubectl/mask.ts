/**
 * Replaces values that differ between servers with fixed words, so that the rest of the output can
 * be compared.
 */
import type { KubectlSession } from './session.ts'

const masks: readonly (readonly [RegExp, string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'UID'],
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| ?[+-]\d\d:?\d\d)?(?: UTC)?/g, 'TIME'],
  [/\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, 'TIME'],
  // Prefix of kubectl's own log lines.
  [/[EWI]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ /g, 'LOG '],
  [/(resource ?version\\?"?: *\\?"?)\d+/gi, '$1VERSION'],
  [/(resource version to be \d+, was )\d+/g, '$1VERSION'],
  [/(?<!: *)\b(?:\d+[smhdy])+\b|<invalid>|<unknown>/g, 'AGE'],
  [/ey[\w-]+\.[\w-]+\.[\w-]+/g, 'TOKEN'],
  [/("continue": ?")[\w-]+/g, '$1TOKEN'],
  [/\b10\.0\.\d+\.\d+\b/g, 'ADDRESS'],
  [/\b3[0-2]\d{3}\b/g, 'NODEPORT'],
  [/\b(made|rolled|web|svc\d|c3)-[a-z0-9]{5,10}\b/g, '$1-SUFFIX'],
  [/(LIVE|MERGED)-\d+/g, '$1-DIR'],
  [/\/tmp\/keelson-server-\w+/g, 'SERVER-DIR'],
  [/edit-\d+/g, 'edit-FILE'],
]

export function masked(text: string, { dir, url }: Pick<KubectlSession, 'dir' | 'url'>): string {
  let result = text
    .replaceAll(dir, 'DIR')
    .replaceAll(url, 'SERVER')
    .replaceAll(new URL(url).host, 'HOST')
  for (const [pattern, word] of masks) result = result.replace(pattern, word)
  // Spaces are merged, because the widths of columns depend on the masked values.
  return result.replace(/[ \t]+/g, ' ')
}

/**
 * Removes descriptions from the output of `explain`, because Keelson has its own. Names, types,
 * values and errors remain.
 */
export const withoutProse = (text: string): string =>
  text
    .split('\n')
    .filter((line) => /^\S|^ *\S+ <[^>]*>|^ *(?:enum|FIELD|default):/.test(line))
    .join('\n')

export const inAnyOrder = (text: string): string => text.split('\n').toSorted().join('\n')
