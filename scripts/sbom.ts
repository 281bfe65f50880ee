/**
 * Writes the software bill of materials as CycloneDX 1.6 in JSON. Packages that are part of the
 * program have the scope `required`, and those for building and testing have `excluded`. The output
 * is reproducible: it depends only on the sources.
 *
 *   node scripts/sbom.ts [FILE]    writes to a file, or to standard output
 */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { type LockedPackage, manifest, readPackages } from './packages/lockfile.ts'

const text = `${JSON.stringify(sbom(readPackages()), null, 2)}\n`
const [file] = process.argv.slice(2)
if (file === undefined) process.stdout.write(text)
else writeFileSync(file, text)

function sbom(packages: readonly LockedPackage[]): object {
  const own = { name: manifest.name, version: manifest.version }
  const byName = Map.groupBy(packages, ({ name }) => name)
  const refsOf = (names: readonly string[]): string[] =>
    names.flatMap((name) => (byName.get(name) ?? []).slice(0, 1).map(purl)).toSorted()
  const components = unique(packages).map(componentOf)
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([own, components]))}`,
    version: 1,
    metadata: {
      component: {
        type: 'application',
        'bom-ref': purl(own),
        ...own,
        purl: purl(own),
        licenses: [{ expression: manifest.license }],
      },
    },
    components,
    dependencies: [
      {
        ref: purl(own),
        dependsOn: refsOf(packages.filter(({ isBundled }) => isBundled).map(({ name }) => name)),
      },
      ...unique(packages).map((one) => ({ ref: purl(one), dependsOn: refsOf(one.dependencies) })),
    ],
  }
}

/** Returns each package once, even if it is in several folders of node_modules. */
function unique(packages: readonly LockedPackage[]): LockedPackage[] {
  const found = new Map<string, LockedPackage>()
  for (const one of packages) {
    const ref = purl(one)
    const known = found.get(ref)
    found.set(
      ref,
      known === undefined ? one : { ...known, isBundled: known.isBundled || one.isBundled },
    )
  }
  return [...found.values()]
}

function componentOf(one: LockedPackage): object {
  const [algorithm = '', digest = ''] = one.integrity.split('-', 2)
  const content = Buffer.from(digest, 'base64').toString('hex')
  return {
    type: 'library',
    'bom-ref': purl(one),
    name: one.name,
    version: one.version,
    scope: one.isBundled ? 'required' : 'excluded',
    ...(algorithm === 'sha512' ? { hashes: [{ alg: 'SHA-512', content }] } : {}),
    licenses: [{ expression: one.license }],
    purl: purl(one),
    ...(one.resolved.startsWith('https://')
      ? { externalReferences: [{ type: 'distribution', url: one.resolved }] }
      : {}),
  }
}

/** Returns the package URL (https://github.com/package-url/purl-spec). */
function purl({ name, version }: { readonly name: string; readonly version: string }): string {
  return `pkg:npm/${name.replace(/^@/, '%40')}@${version}`
}

/** Returns a UUID of version 8 (RFC 9562) whose bits come from a SHA-256 digest. */
function uuidOf(content: string): string {
  const digest = createHash('sha256').update(content).digest('hex')
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-a${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}
