/**
 * The manifest of a bundle: what is in it, of what, by which versions, and the hash of every member. It is the first thing read of a
 * bundle that may come from anywhere.
 */
import * as z from 'zod'
import { incidentId, incidentStatus } from './notebook.ts'

/** Version of the bundle's layout; older ones are read, newer ones refused. */
export const BUNDLE_FORMAT = 1

const ms = z.number().min(0).max(8.64e15)
const count = z.number().int().nonnegative()
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** Members that every bundle has by this name. */
export const MANIFEST = 'manifest.json'
export const README = 'README.html'
export const REPORT = 'report.md'
export const NOTEBOOK = 'notebook.json'
export const HISTORY = 'history.qosrec'
export const AUDIT = 'audit.jsonl'

/** Names that a member may have: nothing else in a bundle is looked at. Folders are one deep, names plain. */
const MEMBER =
  /^(?:manifest\.json|README\.html|report\.md|notebook\.json|history\.qosrec|audit\.jsonl|(?:csv|rules|readings|charts)\/[A-Za-z0-9][A-Za-z0-9_-]{0,79}\.(?:csv|txt|diff|svg|png))$/

export const isMemberName = (name: string): boolean => MEMBER.test(name)

/** Groups that an operator can leave out; README, report and manifest are always there. */
export const memberGroup = z.enum(['notebook', 'history', 'csv', 'rules', 'audit', 'readings', 'charts'])
export type MemberGroup = z.infer<typeof memberGroup>

/** Bounds of what is read of a bundle. Ratio: inflated over deflated bytes of one member that is larger than a megabyte. */
export const LIMITS = {
  members: 400,
  manifestBytes: 4 * 2 ** 20,
  memberBytes: 2 ** 31,
  totalBytes: 3 * 2 ** 30,
  ratio: 1_000,
} as const

export const manifest = z.object({
  format: z.number().int().positive(),
  product: z.literal('sluice'),
  /** Sluice that wrote it. */
  version: z.string().max(64),
  /** Wall clock of the export; the only figure that two exports of the same differ in. */
  createdMs: ms,
  incident: z.object({ id: incidentId, title: z.string().max(200), status: incidentStatus }).nullable(),
  source: z.object({
    kind: z.enum(['LIVE', 'EMULATED']),
    cluster: z.string().max(256),
    env: z.enum(['PROD', 'STAGE', 'DEV', 'DEMO']),
    scenario: z.string().max(200).nullable(),
    seed: z.number().nullable(),
    /** Release of Lustre by server, where known. */
    releases: z.array(z.object({ server: z.string().max(256), release: z.string().max(64) })).max(1_000),
  }),
  range: z.object({ fromMs: ms, toMs: ms }).refine((of) => of.fromMs <= of.toMs),
  /** How samples are in it. */
  samples: z.object({
    servers: count,
    targets: count,
    jobs: count,
    /** Instants of raw samples (or of the finest tier that is kept), and that tier. */
    instants: count,
    tier: z.string().max(16),
    /** Jobs with all their samples; the rest is summed at that resolution, and has means of ten seconds of its own. */
    jobsWhole: count,
  }),
  /** What could not be in it, in words: evicted stretches, gaps, what was left out on purpose. */
  missing: z.array(z.string().max(1_000)).max(200),
  /** pseudonyms: no name of a user, host, account, job or cluster is in it. */
  redaction: z.enum(['pseudonyms', 'none']),
  audit: z
    .object({
      from: count,
      to: count,
      records: count,
      /** Hash that the first record follows from, and that of the last. */
      anchor: sha256,
      head: sha256,
      /** rehashed: texts were redacted, so that the chain was made anew over what is here. */
      chain: z.enum(['original', 'rehashed']),
      /** Whether the chain held when it was copied. */
      verified: z.boolean(),
    })
    .nullable(),
  members: z
    .array(z.object({ name: z.string().refine(isMemberName), bytes: count, sha256, about: z.string().max(300) }))
    .max(LIMITS.members),
  /** SHA-256 over names and hashes of the members, in order: equal for equal content. */
  content: sha256,
})
export type Manifest = z.infer<typeof manifest>
