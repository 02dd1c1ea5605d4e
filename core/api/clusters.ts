/**
 * Clusters as the window shows and changes them: what each server is, how it was reached and trusted, what was found on it,
 * what reading it costs, and what of ours was left behind. Nothing here writes to a server but `clusters.clean`.
 */
import * as z from 'zod'
import { level, ms, notice, streamHead } from './parts.ts'

const count = z.number().int().nonnegative()

/** How dangerous a mistake is; chosen by the operator, shown as a colour. DEMO is the emulator's alone. */
export const env = z.enum(['PROD', 'STAGE', 'DEV', 'DEMO'])
export type Env = z.infer<typeof env>

export const clusterName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/)
/** Readings that can be switched off, one by one. job_stats is what the console lives on, yet costs most. */
export const probeId = z.enum(['job_stats', 'rules', 'stats', 'ldlm', 'brw', 'timeouts', 'batch'])
export type ProbeId = z.infer<typeof probeId>
export const serverRole = z.enum(['mgs', 'mds', 'oss', 'scheduler', 'controller'])
export type ServerRole = z.infer<typeof serverRole>

/**
 * read-only: no write verb is reachable. review: writes after a review of the literal commands. review+unlock: the same, and
 * enforce mode must be unlocked, for 15 minutes at a time.
 */
export const safeMode = z.enum(['read-only', 'review', 'review+unlock'])
export type SafeMode = z.infer<typeof safeMode>

/** A server as the operator wrote it down. */
export const serverInput = z.object({
  /** What it is called here; empty: its host, with the port where several servers share one. */
  name: z
    .string()
    .regex(/^[A-Za-z0-9._-]{0,63}$/)
    .default(''),
  /** An alias of ~/.ssh/config, or a host name. */
  host: z.string().min(1).max(253),
  /** Empty fields: as ~/.ssh/config says. */
  port: z.number().int().min(1).max(65535).nullable().default(null),
  user: z.string().max(64).default(''),
  identity: z.string().max(1024).default(''),
  /** `user@host:port`, and commas; null: as ~/.ssh/config says; empty: none. */
  jump: z.string().max(1024).nullable().default(null),
  /** Empty: found out. */
  roles: z.array(serverRole).max(5).default([]),
})
export type ServerInput = z.infer<typeof serverInput>

export const clusterInput = z.object({
  name: clusterName,
  env: z.enum(['PROD', 'STAGE', 'DEV']),
  servers: z.array(serverInput).min(1).max(512),
  safeMode: safeMode.default('review+unlock'),
  /** Whether a login as root may write here; otherwise it takes a login of its own with sudo. */
  allowRoot: z.boolean().default(false),
  /** Sampling interval, ms. */
  intervalMs: z.number().int().min(200).max(60_000).default(1000),
  /** Share of one core of a server that reading it may take: above it the interval becomes longer. A tenth without it. */
  coreShare: z.number().min(0.01).max(1).optional(),
  /** Token rate of one OST, RPC/s: the budget that the controllers share out. */
  maxRate: z.number().int().min(1).max(999_999).default(1000),
  /** Probes that are off. */
  off: z.array(probeId).max(probeId.options.length).default([]),
})
export type ClusterInput = z.infer<typeof clusterInput>

/** ok and bad are ends; watch: it works, and somebody should look; now: under way; next: not begun; you: waits for a person. */
export const stepState = z.enum(['ok', 'watch', 'bad', 'now', 'next', 'you', 'skipped'])
export type StepState = z.infer<typeof stepState>

/** One line of the read-only checklist, in its order. */
export const checkStep = z.object({
  id: z.enum([
    'config',
    'jump',
    'dns',
    'tcp',
    'host key',
    'auth',
    'shell',
    'sudo',
    'lctl',
    'role',
    'policy',
    'jobs',
    'timer',
    'clock',
  ]),
  state: stepState,
  /** The literal command, or what is done in its place; printed before it runs. */
  command: z.string(),
  tookMs: z.number().nullable(),
  /** What was found, or what went wrong. */
  detail: z.string(),
  /** What to ask for or to type, for example a line of sudoers; empty where nothing is to be done. */
  fix: z.string(),
})
export type CheckStep = z.infer<typeof checkStep>

/** A key that a server showed. */
export const shownKey = z.object({
  host: z.string(),
  port: z.number(),
  type: z.string(),
  /** `SHA256:` and 43 characters. */
  fingerprint: z.string(),
  verdict: z.enum(['match', 'unknown', 'other-type', 'changed', 'revoked', 'weak', 'unreadable']),
  /** Where it is known from, or what stands against it. */
  why: z.string(),
  /** Whether a person may vouch for it. */
  isOpen: z.boolean(),
  /** `via login1.hpc`; empty where it was reached directly. */
  via: z.string(),
})
export type ShownKey = z.infer<typeof shownKey>

export const sudoScope = z.object({
  /** root: logged in as root. read, write: what is granted. broad: any command, or any lctl. none: numbers would be wrong. */
  kind: z.enum(['root', 'read', 'write', 'broad', 'none', 'unknown']),
  text: z.string(),
  level,
})

export const serverCard = z.object({
  host: z.string(),
  /** `root@10.0.0.5:22`. */
  address: z.string(),
  via: z.string(),
  roles: z.array(serverRole),
  state: z.enum(['idle', 'connecting', 'connected', 'lost', 'refused']),
  /** What it does now, or why it does not: `connecting: host key`, `timed out`. */
  text: z.string(),
  level,
  sinceMs: ms.nullable(),
  /** When it is tried again by itself. */
  retryAtMs: ms.nullable(),
  /** Attempts that failed in a row, and what pauses between them grow from and to, ms; absent where nothing is tried again. */
  retry: z.object({ attempt: count, baseMs: z.number(), mostMs: z.number() }).optional(),
  /** Code of the failure that it stands at, for scripts and tickets; absent without one. */
  code: z.string().optional(),
  /** Time of a command that does nothing, ms. */
  roundTripMs: z.number().nullable(),
  targets: z.array(z.string()),
  version: z.string(),
  cpts: count.nullable(),
  /** Policy of its first service, for example `tbf jobid`. */
  policy: z.string(),
  key: shownKey.nullable(),
  /** How the login was made: `agent, ED25519`, `key file id_altair`. */
  login: z.string(),
  /** Algorithms agreed on, and whether the key exchange was strict. */
  algorithms: z.string(),
  strictKex: z.boolean().nullable(),
  /** Where commands run: in the framed channel, or each on its own, and why. */
  channel: z.string(),
  sudo: sudoScope,
  /** How a rule's expiry is kept on it. */
  timers: z.enum(['systemd', 'shell', 'helper', 'none', 'unknown']),
  /** Server clock less ours, ms. */
  clockSkewMs: z.number().nullable(),
  steps: z.array(checkStep),
})
export type ServerCard = z.infer<typeof serverCard>

/** What one kind of reading costs all servers together, over the last ten seconds. */
export const probeCard = z.object({
  id: probeId,
  label: z.string(),
  on: z.boolean(),
  bytesPerSec: z.number(),
  /** Time from sending the command to its last byte, ms per second. */
  serverMsPerSec: z.number(),
  /** CPU time of the commands on the servers, ms per second, where it could be measured. */
  serverCpuMsPerSec: z.number().nullable(),
  /** Seconds between two readings of one server. */
  everyS: z.number(),
  /** Why it is slower than asked for, or off by itself. */
  note: z.string(),
})

/** A rule or timer of ours that an earlier start left on a server. */
export const leftover = z.object({
  key: z.string(),
  host: z.string(),
  service: z.string(),
  queue: z.string(),
  rule: z.string(),
  text: z.string(),
  /** Unit or process that will stop it; empty where nothing will. */
  timer: z.string(),
  expiresMs: ms.nullable(),
  /** Who wrote it, as far as the audit knows. */
  owner: z.string(),
})
export type Leftover = z.infer<typeof leftover>

/** The sampling interval: as it was set, as it is run, and why it is longer. */
export const runningPeriod = z.object({ setMs: z.number(), runMs: z.number(), why: z.string() })

export const clusterCard = z.object({
  name: z.string(),
  env,
  kind: z.enum(['LIVE', 'EMULATED']),
  state: z.enum(['idle', 'connecting', 'connected', 'partial', 'failed']),
  text: z.string(),
  level,
  sinceMs: ms.nullable(),
  onScreen: z.boolean(),
  mode: z.enum(['observe', 'advise', 'enforce']),
  safeMode,
  /** End of the unlock; null while locked, or where none is needed. */
  unlockedUntilMs: ms.nullable(),
  intervalMs: z.number(),
  /** The interval that is run, where it is longer, and why. */
  period: runningPeriod.optional(),
  servers: z.array(serverCard),
  probes: z.array(probeCard),
  /** Bytes/s and server ms/s of all probes, newest last, one point every 5 s over the last hour; null: a gap. */
  cost: z.object({
    t: z.array(z.number()),
    bytesPerSec: z.array(z.number().nullable()),
    serverMsPerSec: z.array(z.number().nullable()),
  }),
  /** Bytes/s above which probes slow down by themselves. */
  budgetBytesPerSec: z.number(),
  /** What keeps it from working fully, worst first, each with what to do. */
  notices: z.array(notice),
  leftovers: z.array(leftover),
  /** As it was written down; null for the emulator. */
  input: clusterInput.nullable(),
})
export type ClusterCard = z.infer<typeof clusterCard>

/** A private key file that waits for its passphrase. */
export const ask = z.object({ id: z.string(), file: z.string(), host: z.string(), attempt: count })
export type Ask = z.infer<typeof ask>

export const connectionsFrame = z.object({
  ...streamHead,
  clusters: z.array(clusterCard),
  asks: z.array(ask),
  /** Path of the console's trust store, and what is wrong with it. */
  trustStore: z.object({ path: z.string(), fault: z.string() }),
  /** Lines of ~/.ssh/config that were not followed, with the reason. */
  ignored: z.array(z.string()),
})
export type ConnectionsFrame = z.infer<typeof connectionsFrame>

/** What `clusters.check` tells on its way: every step as it changes, then what was found. */
export const checkEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('steps'), host: z.string(), steps: z.array(checkStep) }),
  z.object({ kind: z.literal('key'), host: z.string(), key: shownKey }),
  z.object({ kind: z.literal('found'), server: serverCard }),
  z.object({ kind: z.literal('end'), ok: z.boolean() }),
])
export type CheckEvent = z.infer<typeof checkEvent>

/** Names of ~/.ssh/config that stand for one host. */
export const sshAliases = z.object({
  file: z.string(),
  fault: z.string(),
  names: z.array(z.object({ name: z.string(), address: z.string() })),
})
export type SshAliases = z.infer<typeof sshAliases>
