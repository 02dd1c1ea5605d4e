/**
 * Manifest of a bundle: its contents, their subject, the versions that wrote it, and the hash of every member. It is read first
 * from a bundle that may come from anywhere.
 */
import * as z from 'zod'
import { incidentId, incidentStatus } from './notebook.ts'

/** Version of the bundle's layout; older ones are read, newer ones refused. */
export const BUNDLE_FORMAT = 1

const ms = z.number().min(0).max(8.64e15)
const count = z.number().int().nonnegative()
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

/** Names of the members that every bundle has. */
export const MANIFEST = 'manifest.json'
export const README = 'README.html'
export const REPORT = 'report.md'
export const NOTEBOOK = 'notebook.json'
export const HISTORY = 'history.qosrec'
export const AUDIT = 'audit.jsonl'

/** Allowed member names: anything else in a bundle is ignored. Folders are one deep, names plain. */
const MEMBER =
  /^(?:manifest\.json|README\.html|report\.md|notebook\.json|history\.qosrec|audit\.jsonl|(?:csv|rules|readings|charts)\/[A-Za-z0-9][A-Za-z0-9_-]{0,79}\.(?:csv|txt|diff|svg|png))$/

export const isMemberName = (name: string): boolean => MEMBER.test(name)

/** Groups that an operator can leave out; README, report and manifest are always included. */
export const memberGroup = z.enum(['notebook', 'history', 'csv', 'rules', 'audit', 'readings', 'charts'])
export type MemberGroup = z.infer<typeof memberGroup>

/** Limits for reading a bundle. Ratio: inflated over deflated bytes of one member that is larger than a megabyte. */
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
  /** Sluice version that wrote it. */
  version: z.string().max(64),
  /** Wall clock of the export; the only value that differs between two exports of the same data. */
  createdMs: ms,
  incident: z.object({ id: incidentId, title: z.string().max(200), status: incidentStatus }).nullable(),
  source: z.object({
    kind: z.enum(['LIVE', 'EMULATED']),
    cluster: z.string().max(256),
    env: z.enum(['PROD', 'STAGE', 'DEV', 'DEMO']),
    scenario: z.string().max(200).nullable(),
    seed: z.number().nullable(),
    /** Lustre release by server, where known. */
    releases: z.array(z.object({ server: z.string().max(256), release: z.string().max(64) })).max(1_000),
  }),
  range: z.object({ fromMs: ms, toMs: ms }).refine((of) => of.fromMs <= of.toMs),
  /** Coverage of the samples. */
  samples: z.object({
    servers: count,
    targets: count,
    jobs: count,
    /** Number of sample times at `tier`. */
    instants: count,
    /** `raw`, or the finest tier kept. */
    tier: z.string().max(16),
    /**
     * Number of jobs exported at `tier`; the other jobs are included as one sum at `tier`, and individually as 10 s
     * means.
     */
    jobsWhole: count,
    /** Tables of locks, metadata and tokens with their number of series, and kept convoys; absent in older bundles. */
    planes: z
      .array(z.object({ table: z.string().max(64), title: z.string().max(64), series: count }))
      .max(64)
      .optional(),
    convoys: count.optional(),
  }),
  /** Missing data, as text: evicted ranges, gaps, deliberate omissions. */
  missing: z.array(z.string().max(1_000)).max(200),
  /** pseudonyms: it contains no name of a user, host, account, job or cluster. */
  redaction: z.enum(['pseudonyms', 'none']),
  audit: z
    .object({
      from: count,
      to: count,
      records: count,
      /** Hash that the first record follows from. */
      anchor: sha256,
      /** Hash of the last record. */
      head: sha256,
      /** rehashed: texts were redacted, so the chain was recomputed over the included records. */
      chain: z.enum(['original', 'rehashed']),
      /** True if the chain verified when it was copied. */
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
