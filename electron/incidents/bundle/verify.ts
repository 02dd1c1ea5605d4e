/**
 * Verification of bundles. Every byte is covered by the hash in the archive's comment, every member by its own in the
 * manifest: a change is reported by the member that contains it, or as `archive` outside of all members. A complete
 * rewrite, including all hashes, cannot be detected from the file itself: for that the hash of the whole file is kept
 * separately.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { VerdictOfBundle } from '#core/api/incidents.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { AUDIT, HISTORY, MANIFEST, type Manifest } from '#core/snapshot/manifest.ts'
import { AUDIT_MOST, brokenAt, readAudit } from './audit-member.ts'
import { contentHash } from './content-hash.ts'
import { readManifest, readNotebook } from './read-manifest.ts'
import { checkUnpacked } from './unpack-history.ts'
import { MemberDamaged, openZip, type OpenedZip } from '../zip/zip-in.ts'
import { SEAL_BYTES } from '../zip/zip-out.ts'

/** Name for changes outside of all members. */
export const ARCHIVE = 'archive'

type Change = VerdictOfBundle['changed'][number]

/** Hashes of the whole file, and of the part that its comment covers. */
async function hashes(zip: OpenedZip): Promise<{ sha256: string; sealed: string }> {
  const digest = createHash('sha256')
  const sealed = createHash('sha256')
  let remaining = zip.size - SEAL_BYTES
  for await (const piece of zip.raw()) {
    digest.update(piece)
    sealed.update(piece.subarray(0, Math.max(0, Math.min(remaining, piece.length))))
    remaining -= piece.length
  }
  return { sha256: digest.digest('hex'), sealed: sealed.digest('hex') }
}

async function hashOf(zip: OpenedZip, name: string): Promise<Result<string, string>> {
  const hash = createHash('sha256')
  try {
    for await (const piece of zip.stream(name)) hash.update(piece)
    return ok(hash.digest('hex'))
  } catch (e) {
    if (e instanceof MemberDamaged) return fail(e.message)
    throw e
  }
}

/** Members that differ from the manifest, are missing, or are not listed in it. */
async function membersChanged(zip: OpenedZip, manifest: Manifest): Promise<Change[]> {
  const changed: Change[] = []
  const named = new Set<string>([MANIFEST])
  for (const { name, bytes, sha256 } of manifest.members) {
    if (named.has(name)) changed.push({ member: MANIFEST, why: `it lists ${name} twice` })
    named.add(name)
    const entry = zip.entries.get(name)
    if (!entry) {
      changed.push({ member: name, why: 'it is missing' })
      continue
    }
    const hash = await hashOf(zip, name)
    if (!hash.ok) changed.push({ member: name, why: hash.error })
    else if (hash.value !== sha256) changed.push({ member: name, why: 'its bytes differ from the manifest' })
    else if (entry.bytes !== bytes) changed.push({ member: MANIFEST, why: `it lists another size of ${name}` })
  }
  for (const name of zip.entries.keys()) {
    if (!named.has(name)) changed.push({ member: name, why: 'it was added: the manifest does not list it' })
  }
  if (contentHash(manifest.members) !== manifest.content) {
    changed.push({ member: MANIFEST, why: 'its content hash does not match its members' })
  }
  return changed
}

async function auditChanged(zip: OpenedZip, manifest: Manifest): Promise<string | undefined> {
  const bytes = await zip.read(AUDIT, AUDIT_MOST)
  if (!bytes.ok) return bytes.error.why ?? bytes.error.what
  const { audit } = manifest
  const slice = readAudit(bytes.value.toString(), audit)
  if (!slice.ok) return slice.error
  const { records } = slice.value
  if (!audit) return 'the manifest lists no audit'
  const isOther =
    records.length !== audit.records ||
    (records[0]?.number ?? 0) !== audit.from ||
    (records.at(-1)?.number ?? 0) !== audit.to ||
    (records.at(-1)?.hash ?? audit.anchor) !== audit.head
  if (isOther) return 'its records differ from the manifest'
  return brokenAt(slice.value)?.why
}

/** An older recording is upgraded in the unpacked copy; one that fails to open was not written by Sluice. */
async function historyChanged(zip: OpenedZip, folder: string): Promise<Result<string | undefined>> {
  const file = join(folder, HISTORY)
  const out = await zip.extract(HISTORY, file)
  if (!out.ok) return out.error.code === 'BUNDLE_DAMAGED' ? ok(out.error.why) : out
  const checked = checkUnpacked(file)
  // A recording of a newer version counts as unchanged.
  return ok(checked.ok || checked.error.code === 'RECORDING_NEWER' ? undefined : checked.error.why)
}

/** Verifies a bundle, in this process or in one that can be killed. */
export type VerifyBundle = (file: string) => Promise<Result<VerdictOfBundle>>

/**
 * Verifies a bundle. A hostile one can make this run forever, so it runs in a process that can be killed
 * (electron/foreign).
 *
 * @param folder  private and empty: its recording is unpacked into it.
 *
 * Failures: it cannot be read at all (BUNDLE_GONE, _UNREADABLE), is not a bundle (BUNDLE_FOREIGN), or is of a newer
 * Sluice (BUNDLE_NEWER).
 */
export async function verifyBundle(file: string, folder: string): Promise<Result<VerdictOfBundle>> {
  const opened = await openZip(file)
  if (!opened.ok) {
    if (opened.error.code !== 'BUNDLE_REFUSED') return opened
    return ok({ ok: false, changed: [{ member: ARCHIVE, why: opened.error.why ?? '' }], manifest: null, sha256: '' })
  }
  const zip = opened.value
  try {
    const { sha256, sealed } = await hashes(zip)
    const changed: Change[] = []
    const read = await readManifest(zip)
    if (!read.ok) {
      if (read.error.code !== 'BUNDLE_DAMAGED') return read
      changed.push({ member: MANIFEST, why: read.error.why ?? '' })
      // Without the manifest only the archive's own checks apply to the other members.
      for (const name of zip.entries.keys()) {
        const hash = name === MANIFEST ? ok('') : await hashOf(zip, name)
        if (!hash.ok) changed.push({ member: name, why: hash.error })
      }
      return ok({ ok: false, changed, manifest: null, sha256 })
    }
    const manifest = read.value
    changed.push(...(await membersChanged(zip, manifest)))
    const isChanged = (name: string): boolean => changed.some((c) => c.member === name)
    if (zip.entries.has(AUDIT) && !isChanged(AUDIT)) {
      const why = await auditChanged(zip, manifest)
      if (why !== undefined) changed.push({ member: AUDIT, why })
    }
    if (zip.entries.has(HISTORY) && !isChanged(HISTORY)) {
      const why = await historyChanged(zip, folder)
      if (!why.ok) return why
      if (why.value !== undefined) changed.push({ member: HISTORY, why: why.value })
    }
    const notebook = await readNotebook(zip, manifest.version)
    if (!notebook.ok && notebook.error.code === 'BUNDLE_DAMAGED' && !isChanged('notebook.json')) {
      changed.push({ member: 'notebook.json', why: notebook.error.why ?? '' })
    }
    if (sealed !== zip.seal && changed.length === 0) {
      changed.push({ member: ARCHIVE, why: 'a byte outside of all members was changed' })
    }
    return ok({ ok: changed.length === 0, changed, manifest, sha256 })
  } finally {
    zip.close()
  }
}
