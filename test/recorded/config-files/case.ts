/**
 * Defines a test case: flags and a file. `$FILE` is the path of the file, `$DIR` the directory of
 * the files to which cases refer (files.ts).
 */
import type { Fields } from '../../../src/api/object.ts'
import type { RawFlags } from './judge.ts'

export type ConfigCase = {
  /** A unique name that describes the case, such as `authentication/issuer/url-http`. */
  readonly id: string
  readonly flags: RawFlags
  /** Content of the file, or null if the file does not exist. */
  readonly text: string | null
}

/** Returns YAML: block style at the top level, JSON below. */
export const yamlOf = (fields: Fields): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name}: ${JSON.stringify(value)}\n`)
    .join('')

/**
 * Contents of files, by the name of the case. If a case has additional flags, its value is a pair
 * of the content and these flags.
 */
export type FileTable = { readonly [name: string]: string | readonly [string | null, RawFlags] }

export function casesOf(type: string, flags: RawFlags, table: FileTable): ConfigCase[] {
  return Object.entries(table).map(([name, row]) => {
    const [text, more] = typeof row === 'string' ? [row, {}] : row
    return { id: `${type}/${name}`, flags: { ...flags, ...more }, text }
  })
}

/**
 * Returns test cases for decoding errors that can occur in every kind of file. `rest` is the valid
 * content after apiVersion and kind.
 */
export function formCases(apiVersion: string, kind: string, rest: string): FileTable {
  const head = `apiVersion: ${apiVersion}\nkind: ${kind}\n`
  const [group = ''] = apiVersion.split('/')
  return {
    'form/valid': `${head}${rest}`,
    'form/empty': '',
    'form/blank': '\n\n',
    'form/comment': '# still to be written\n',
    'form/absent': [null, {}],
    'form/no-kind': `apiVersion: ${apiVersion}\n${rest}`,
    'form/no-api-version': `kind: ${kind}\n${rest}`,
    'form/neither': rest,
    'form/other-kind': `apiVersion: ${apiVersion}\nkind: Some${kind}\n${rest}`,
    'form/kind-lower-case': `apiVersion: ${apiVersion}\nkind: ${kind.toLowerCase()}\n${rest}`,
    'form/kind-blank': `apiVersion: ${apiVersion}\nkind: ""\n${rest}`,
    'form/kind-number': `apiVersion: ${apiVersion}\nkind: 5\n${rest}`,
    'form/kind-key-in-other-letters': `apiVersion: ${apiVersion}\nKIND: ${kind}\n${rest}`,
    'form/version-unknown': `apiVersion: ${group}/v77\nkind: ${kind}\n${rest}`,
    'form/version-alone': `apiVersion: v1\nkind: ${kind}\n${rest}`,
    'form/version-blank-after-slash': `apiVersion: ${group}/\nkind: ${kind}\n${rest}`,
    'form/version-two-slashes': `apiVersion: a/b/c\nkind: ${kind}\n${rest}`,
    'form/group-unknown': `apiVersion: config.example.org/v1\nkind: ${kind}\n${rest}`,
    'form/text': 'only a sentence\n',
    'form/list': '- a\n- b\n',
    'form/number': '17\n',
    'form/yaml-broken': 'a: [1, 2\n',
    'form/yaml-tab': 'a:\n\tb: 1\n',
    'form/yaml-quote-open': 'a: "b\n',
    'form/json-broken': '{"apiVersion": }',
    'form/json-cut-off': `{"apiVersion":"${apiVersion}","kind":"${kind}"`,
    'form/json-byte-order-mark': `\ufeff{"apiVersion":"${apiVersion}","kind":"${kind}"}`,
    'form/json-after-blanks': `\v\f \u0085\u00a0\r\n\t{"apiVersion":"${apiVersion}","kind":"${kind}"}`,
    'form/json-after-wide-blank': `\u2003{"apiVersion":"${apiVersion}","kind":"${kind}"}`,
    'form/yaml-byte-order-mark': `\ufeff${head}${rest}`,
    'form/json-number-too-large': `{"apiVersion":"${apiVersion}","kind":"${kind}","extraField":1e999}`,
    'form/json-number-too-large-alone': `{"kind":"${kind}","extraField":1e999}`,
    'form/json-nested-deeply': `{"kind":"${kind}","extraField":${'['.repeat(10_001)}${']'.repeat(10_001)}}`,
    'form/json-twice': `{"apiVersion":"${apiVersion}","kind":"${kind}","kind":"${kind}"}`,
    'form/unknown-field': `${head}${rest}extraField: [1]\n`,
    'form/two-unknown-fields': `${head}${rest}extraField: 1\nother: 2\n`,
    'form/key-twice': `${head}${rest}${rest}`,
    'form/key-twice-and-unknown': `${head}${rest}${rest}other: 2\n`,
    'form/second-document-is-not-read': `${head}${rest}---\nnonsense: [\n`,
    'form/first-document-is-empty': `---\n---\n${head}${rest}`,
    'form/document-mark': `---\n${head}${rest}`,
  }
}
