/** Readers of bundle documents: JSON of bounded size, validated by schemas. */
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import { BUNDLE_FORMAT, LIMITS, manifest, MANIFEST, NOTEBOOK, type Manifest } from '#core/snapshot/manifest.ts'
import { incident, type Incident, NOTEBOOK_FORMAT } from '#core/snapshot/notebook.ts'
import * as z from 'zod'
import { damaged, type OpenedZip } from '../zip/zip-in.ts'

/** Largest notebook that is read, bytes. */
const NOTEBOOK_MOST = 64 * 2 ** 20

const versions = z.object({
  format: z.number().int().positive(),
  product: z.literal('sluice'),
  version: z.string().max(64),
})
const versioned = z.object({ format: z.number().int().positive() })

const newer = (version: string): Failure => ({
  code: 'BUNDLE_NEWER',
  what: 'The bundle cannot be opened',
  why: `it was written by a newer Sluice (${JSON.stringify(version)})`,
  unaffected: 'It was not changed.',
  next: 'Open it with that Sluice, or update this one. Its README.html opens in a browser.',
})

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

/** Failures: BUNDLE_DAMAGED, BUNDLE_NEWER. */
export async function readManifest(zip: OpenedZip): Promise<Result<Manifest>> {
  const bytes = await zip.read(MANIFEST, LIMITS.manifestBytes)
  if (!bytes.ok) return bytes
  const value = parsed(bytes.value)
  const of = versions.safeParse(value)
  if (!of.success) return fail(damaged(MANIFEST, 'it is not a bundle manifest'))
  if (of.data.format > BUNDLE_FORMAT) return fail(newer(of.data.version))
  const read = manifest.safeParse(value)
  if (read.success) return ok(read.data)
  const issue = read.error.issues[0]
  return fail(damaged(MANIFEST, `it is not a bundle manifest: ${issue?.path.join('.') ?? ''} is not valid`))
}

/** Notebook; null if the bundle has none. Failures: BUNDLE_DAMAGED, BUNDLE_NEWER. */
export async function readNotebook(zip: OpenedZip, version: string): Promise<Result<Incident | null>> {
  if (!zip.entries.has(NOTEBOOK)) return ok(null)
  const bytes = await zip.read(NOTEBOOK, NOTEBOOK_MOST)
  if (!bytes.ok) return bytes
  const value = parsed(bytes.value)
  if (value === null) return ok(null)
  const of = versioned.safeParse(value)
  if (of.success && of.data.format > NOTEBOOK_FORMAT) return fail(newer(version))
  const read = incident.safeParse(value)
  return read.success ? ok(read.data) : fail(damaged(NOTEBOOK, 'it is not a notebook'))
}
