/**
 * Prints the differences between the pinned version of Kubernetes and another one, as Markdown. The
 * differences must be reviewed before Keelson upgrades to that version. A second version replaces
 * the pinned one.
 *
 *   node scripts/versions.ts 1.34.4
 *   node scripts/versions.ts 1.35.4 1.34.4
 */
import { defaultMinor } from '../src/api/releases.ts'
import { gatesActedOn } from '../src/config/feature-gates.ts'
import {
  type Facts,
  type FieldFacts,
  type GateStage,
  type PackageFacts,
  readFacts,
} from './catalogue/facts.ts'
import { readGates } from './catalogue/kept.ts'
import { typeText } from './catalogue/types-text.ts'

function main(): void {
  const [version = '', older] = process.argv.slice(2)
  if (!isVersion(version) || (older !== undefined && !isVersion(older))) {
    console.error('usage: node scripts/versions.ts VERSION [OLDER VERSION], such as 1.34.4')
    process.exitCode = 2
    return
  }
  const [before, after] = [readFacts(older), readFacts(version)]
  for (const [title, lines] of [
    ['Versions of groups', versionLines(before, after)],
    ['Kinds', kindLines(before, after)],
    ['Fields', fieldLines(before, after)],
    ['Enumerations', enumLines(before, after)],
    [
      'Fields that Kubernetes marks with a gate, and Keelson does not drop',
      unmarkedLines(before, after),
    ],
    ['Feature gates', gateLines(before, after)],
  ] as const) {
    console.log(`## ${title}: ${lines.length}\n`)
    for (const line of lines) console.log(`- ${line}`)
    if (lines.length > 0) console.log()
  }
}

const isVersion = (text: string): boolean => /^1\.\d+\.\d+$/.test(text)

function versionLines(old: Facts, now: Facts): readonly string[] {
  return changes(new Set(Object.keys(old.packages)), new Set(Object.keys(now.packages)))
}

function kindLines(old: Facts, now: Facts): readonly string[] {
  return changes(kindsOf(old), kindsOf(now)).filter((line) => !line.endsWith('List`'))
}

const kindsOf = ({ packages }: Facts): ReadonlySet<string> =>
  each(packages, ({ types }) => types.filter(({ isKind }) => isKind).map(({ name }) => name))

/**
 * Lists changed fields. A type that exists in only one of the versions takes one line. List types
 * are skipped.
 */
function fieldLines(old: Facts, now: Facts): readonly string[] {
  const [one, other] = [typesOf(old), typesOf(now)]
  const lines: string[] = []
  for (const [type, fields] of other) {
    const known = one.get(type)
    if (known === undefined) lines.push(`new type \`${type}\`: ${[...fields.keys()].join(', ')}`)
    for (const [name, text] of known === undefined ? [] : fields) {
      const was = known?.get(name)
      if (was === undefined) lines.push(`new \`${type}.${name}\`: ${text}`)
      else if (was !== text) lines.push(`changed \`${type}.${name}\`: ${was} is now ${text}`)
    }
    for (const name of known?.keys() ?? [])
      if (!fields.has(name)) lines.push(`gone \`${type}.${name}\``)
  }
  for (const type of one.keys()) if (!other.has(type)) lines.push(`gone type \`${type}\``)
  return lines
}

/** Returns a description of each field of each type. */
function typesOf({ packages }: Facts): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const all = Object.entries(packages).flatMap(([name, { types }]) =>
    types.flatMap((type): [string, ReadonlyMap<string, string>][] => {
      const fields = type.fields.map((field): [string, string] => [
        field.name ?? typeText(field.go),
        describe(field),
      ])
      return type.name.endsWith('List') ? [] : [[`${name} ${type.name}`, new Map(fields)]]
    }),
  )
  return new Map(all)
}

function describe({ go, gates, name: _name, ...rest }: FieldFacts): string {
  const marks = Object.entries(rest).map(([mark, value]) =>
    value === true ? mark : `${mark}=${String(value)}`,
  )
  return [typeText(go), ...marks, ...(gates ?? []).map((gate) => `gate ${gate}`)].join(', ')
}

function enumLines(old: Facts, now: Facts): readonly string[] {
  return changes(valuesOf(old), valuesOf(now))
}

const valuesOf = ({ packages }: Facts): ReadonlySet<string> =>
  each(packages, ({ aliases }) =>
    (aliases ?? []).flatMap(({ name, values }) =>
      (values ?? []).map((value) => `${name}: ${value}`),
    ),
  )

/** Lists only the fields that are new. All other fields were reviewed for the pinned version. */
function unmarkedLines(old: Facts, now: Facts): readonly string[] {
  const known = marked(old)
  const gated = readGates(defaultMinor)
  return [...marked(now)]
    .filter((line) => !known.has(line) && !gated.has(line.split(':')[0] ?? ''))
    .map((line) => `\`${line}\``)
}

const marked = ({ packages }: Facts): ReadonlySet<string> =>
  each(packages, ({ types }) =>
    types.flatMap((type) =>
      type.fields.flatMap((field) =>
        (field.gates ?? []).map((gate) => `${type.name}.${field.name}: ${gate}`),
      ),
    ),
  )

function gateLines(old: Facts, now: Facts): readonly string[] {
  const [one, other] = [stages(old), stages(now)]
  const lines: string[] = []
  for (const [name, stage] of other) {
    const known = one.get(name)
    if (known === undefined) lines.push(`new \`${name}\`: ${stage}`)
    else if (known !== stage)
      lines.push(`moved \`${name}\`: ${known} is now ${stage}${isOurs(name)}`)
  }
  for (const name of one.keys()) if (!other.has(name)) lines.push(`gone \`${name}\`${isOurs(name)}`)
  return lines
}

const stages = ({ gates }: Facts): ReadonlyMap<string, string> =>
  new Map(gates.map(({ name, history }) => [name, stageText(history.at(-1))]))

const isOurs = (name: string): string =>
  gatesActedOn.includes(name) ||
  [...readGates(defaultMinor).values()].some((gate) => gate.split(':')[0] === name)
    ? ' **(Keelson acts on it)**'
    : ''

const stageText = (stage: GateStage | undefined): string =>
  stage === undefined
    ? ''
    : `${stage.stage} ${stage.default ? 'on' : 'off'}${stage.locked === true ? ', locked' : ''} since ${stage.since}`

/**
 * Returns the lines that `read` returns for each package, prefixed with the name of the package.
 */
const each = (
  packages: Facts['packages'],
  read: (own: PackageFacts) => readonly string[],
): ReadonlySet<string> =>
  new Set(
    Object.entries(packages).flatMap(([name, own]) => read(own).map((line) => `${name} ${line}`)),
  )

function changes(old: ReadonlySet<string>, now: ReadonlySet<string>): readonly string[] {
  const added = [...now].filter((one) => !old.has(one)).map((one) => `new \`${one}\``)
  return [...added, ...[...old].filter((one) => !now.has(one)).map((one) => `gone \`${one}\``)]
}

main()
