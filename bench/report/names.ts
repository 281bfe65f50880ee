/**
 * Finds two kinds of suspicious exports in src/: names that two files export, and functions,
 * constants and classes that no other file of src/ imports. The names `rules` and `typeDefaults`
 * are ignored, because many files export a table of this name.
 *
 *   node bench/report/names.ts [--list]
 */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'

const src = join(import.meta.dirname, '..', '..', 'src')
const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith('.ts'),
)
const isTest = (file: string): boolean => file.endsWith('.test.ts')
const ofEachKind = new Set(['rules', 'typeDefaults'])

const declaration = /^export (?:abstract |async )?(function\*?|class|const|type|interface) +(\w+)/gm
const importing = /^import (?:type )?\{([^}]*)\} from '(\.[^']*)'/gm
const importingAll = /^import \* as \w+ from '(\.[^']*)'|\bimport\('(\.[^']*)'\)/gm

type Export = { readonly file: string; readonly sort: string; readonly name: string }

const exported: Export[] = []
/** Maps each export, as `FILE NAME`, to whether a file that is not a test imports the export. */
const imported = new Map<string, boolean>()
/**
 * Files that are imported dynamically or as a namespace, so that each of their exports counts as
 * used.
 */
const whole = new Set<string>()
for (const file of files) {
  const text = readFileSync(join(src, file), 'utf8')
  for (const [, sort = '', name = ''] of isTest(file) ? [] : text.matchAll(declaration))
    exported.push({ file, sort, name })
  for (const [, all, later = ''] of text.matchAll(importingAll))
    whole.add(normalize(join(dirname(file), all ?? later)))
  for (const [, names = '', from = ''] of text.matchAll(importing)) {
    const target = normalize(join(dirname(file), from))
    for (const part of names.split(',')) {
      const id = `${target} ${
        part
          .trim()
          .replace(/^type /, '')
          .split(' ')[0]
      }`
      imported.set(id, !isTest(file) || imported.get(id) === true)
    }
  }
}

const isValue = ({ sort }: Export): boolean => sort !== 'type' && sort !== 'interface'
const idOf = ({ file, name }: Export): string => `${file} ${name}`
const values = exported.filter((one) => isValue(one) && !whole.has(one.file))
const alone = values.filter((one) => !imported.has(idOf(one)))
const forTests = values.filter((one) => imported.get(idOf(one)) === false)
const byName = Map.groupBy(
  exported.filter(({ name }) => !ofEachKind.has(name)),
  ({ name }) => name,
)
const twice = [...byName].filter(([, places]) => places.length > 1)

console.log(`exported: ${exported.length}`)
console.log(`names that several files export: ${twice.length}`)
console.log(
  `values that no file imports: ${alone.length}; imported only by their own tests: ${forTests.length}`,
)
if (process.argv.includes('--list')) {
  for (const [name, places] of twice)
    console.log(`${name}: ${places.map(({ file }) => file).join(', ')}`)
  for (const one of [...alone, ...forTests]) console.log(idOf(one))
}
