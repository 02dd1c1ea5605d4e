/** Bundles with valid hashes, but other contents than Sluice writes. */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { MANIFEST, type Manifest } from '#core/snapshot/manifest.ts'
import { contentHash } from '#electron/incidents/bundle/content-hash.ts'
import { writeBundle } from '#electron/incidents/bundle/write-bundle.ts'
import { codeOf } from '#electron/incidents/redaction/pseudonym-key.ts'
import { openZip } from '#electron/incidents/zip/zip-in.ts'
import { inputOf, smallSource } from './small-source.ts'
import { rawZip } from './raw-zip.ts'

export interface Forge {
  /** A bundle as Sluice wrote it. */
  readonly good: string
  readonly members: ReadonlyMap<string, Buffer>
  /** Creates a bundle with other members, and their hashes. */
  forge(put: Readonly<Record<string, Buffer | string>>, change?: (m: Manifest) => Partial<Manifest>): string
}

/** @param folder  folder of the bundles. */
export async function forgeIn(folder: string): Promise<Forge> {
  const good = join(folder, 'good.zip')
  const members = new Map<string, Buffer>()
  const source = await smallSource(6)
  const code = codeOf(Buffer.alloc(32, 7))
  const written = await writeBundle(source, inputOf(), { incident: null, file: good, code, version: '1', nowMs: 1 })
  if (!written.ok) throw new Error(written.error.why)
  const zip = await openZip(good)
  if (!zip.ok) throw new Error(zip.error.why)
  for (const name of zip.value.entries.keys()) {
    const bytes = await zip.value.read(name, 2 ** 30)
    if (bytes.ok) members.set(name, bytes.value)
  }
  zip.value.close()
  let forged = 0
  return {
    good,
    members,
    forge(put, change = () => ({})) {
      const all = new Map(members)
      const of = JSON.parse(all.get(MANIFEST)?.toString() ?? '') as Manifest
      all.delete(MANIFEST)
      for (const [name, data] of Object.entries(put)) all.set(name, Buffer.from(data))
      const listed = [...all].map(([name, data]) => {
        return { name, bytes: data.length, sha256: createHash('sha256').update(data).digest('hex'), about: '' }
      })
      const whole = { ...of, members: listed, content: contentHash(listed), ...change(of) }
      const file = join(folder, `forged-${++forged}.zip`)
      const zip = [...all].map(([name, data]) => ({ name, data }))
      writeFileSync(file, rawZip([...zip, { name: MANIFEST, data: JSON.stringify(whole) }]))
      return file
    },
  }
}
