/**
 * Clusters in the contract: servers with their connection, trust, checks, reading cost and leftovers. Only `clusters.clean` writes to
 * servers.
 */
import * as z from 'zod'
import { level, ms, notice, streamHead } from './parts.ts'
import { serverPeriod } from './periods.ts'

const count = z.number().int().nonnegative()

/** Severity of a mistake on the cluster; chosen by the operator, shown as a color. DEMO is reserved for the emulator. */
export const env = z.enum(['PROD', 'STAGE', 'DEV', 'DEMO'])
export type Env = z.infer<typeof env>

export const clusterName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/)
/** Readings that can be switched off individually. job_stats is the console's main input, but costs most. */
export const probeId = z.enum(['job_stats', 'rules', 'stats', 'ldlm', 'brw', 'timeouts', 'batch'])
export type ProbeId = z.infer<typeof probeId>
/** controller: runs the global controller of PADLL's stages. haechi: runs a data node with tokens. ccpfs: runs servers of ccPFS. */
export const serverRole = z.enum(['mgs', 'mds', 'oss', 'scheduler', 'controller', 'haechi', 'ccpfs'])
export type ServerRole = z.infer<typeof serverRole>
/**
 * Roles whose hosts the operator enters beside the Lustre servers. isMany: on any number of hosts. isSampled: such a host alone makes a
 * cluster that can be sampled.
 */
export const HELPER_ROLES = {
  scheduler: { isMany: false, isSampled: false },
  controller: { isMany: false, isSampled: false },
  haechi: { isMany: false, isSampled: true },
  ccpfs: { isMany: true, isSampled: true },
} as const satisfies Partial<Record<ServerRole, object>>
export type HelperRole = keyof typeof HELPER_ROLES
export const isHelperRole = (role: ServerRole): role is HelperRole => role in HELPER_ROLES

/**
 * read-only: no write verb is available. review: writes after a review of the literal commands. review+unlock: the same, and enforce mode
 * must be unlocked, for 15 minutes at a time.
 */
export const safeMode = z.enum(['read-only', 'review', 'review+unlock'])
export type SafeMode = z.infer<typeof safeMode>

/** Token rate T of one OST that is assumed until it is set, RPC/s. */
export const GUESSED_RATE = 1000
/** Largest token rate of one OST, RPC/s. */
export const OST_RATE_MAX = 999_999
const ostRate = z.number().int().min(1).max(OST_RATE_MAX).nullable()

/** Server as configured by the operator. */
export const serverInput = z.object({
  /** Display name; empty: its host, with the port if several servers share one. */
  name: z
    .string()
    .regex(/^[A-Za-z0-9._-]{0,63}$/)
    .default(''),
  /** An alias of ~/.ssh/config, or a host name. */
  host: z.string().min(1).max(253),
  /** Empty fields: from ~/.ssh/config. */
  port: z.number().int().min(1).max(65535).nullable().default(null),
  user: z.string().max(64).default(''),
  identity: z.string().max(1024).default(''),
  /** `user@host:port`, comma-separated; null: from ~/.ssh/config; empty: none. */
  jump: z.string().max(1024).nullable().default(null),
  /** Empty: detected. */
  roles: z.array(serverRole).max(serverRole.options.length).default([]),
})
export type ServerInput = z.infer<typeof serverInput>

/** Control period by default, ms: that of the paper. */
export const CONTROL_MS = 100
export const CONTROL_MAX_MS = 10_000
export const controlMs = z.number().int().min(CONTROL_MS).max(CONTROL_MAX_MS)

export const clusterInput = z.object({
  name: clusterName,
  env: z.enum(['PROD', 'STAGE', 'DEV']),
  servers: z.array(serverInput).min(1).max(512),
  safeMode: safeMode.default('review+unlock'),
  /** True if a root login may write on this cluster; otherwise writing requires a separate login with sudo. */
  allowRoot: z.boolean().default(false),
  /** Sampling interval of views and history, ms. */
  intervalMs: z.number().int().min(100).max(60_000).default(1000),
  /** Control period of a server that the streaming reader reads, ms; CONTROL_MS without it. Others are controlled with the samples. */
  controlMs: controlMs.optional(),
  /** Share of one core of a server that reading may use; above it the interval is extended. A tenth without it. */
  coreShare: z.number().min(0.01).max(1).optional(),
  /**
   * Token rate T of one OST, RPC/s: the budget that the controllers distribute, and 100 % utilization. null: not
   * set, GUESSED_RATE is assumed.
   */
  maxRate: ostRate.default(null),
  /** Disabled probes. */
  off: z.array(probeId).max(probeId.options.length).default([]),
})
export type ClusterInput = z.infer<typeof clusterInput>

/** ok and bad are final; watch: works, but needs attention; now: running; next: not started; you: requires user action. */
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
    'reader',
  ]),
  state: stepState,
  /** The literal command, or the action in its place; shown before it runs. */
  command: z.string(),
  tookMs: z.number().nullable(),
  /** Result, or the error. */
  detail: z.string(),
  /** Line to request or type, for example for sudoers; empty if no action is needed. */
  fix: z.string(),
})
export type CheckStep = z.infer<typeof checkStep>

/** Host key presented by a server. */
export const shownKey = z.object({
  host: z.string(),
  port: z.number(),
  type: z.string(),
  /** `SHA256:` and 43 characters. */
  fingerprint: z.string(),
  verdict: z.enum(['match', 'unknown', 'other-type', 'changed', 'revoked', 'weak', 'unreadable']),
  /** Source of trust in the key, or the reason against it. */
  why: z.string(),
  /** True if a user may approve it. */
  isOpen: z.boolean(),
  /** `via login1.hpc`; empty for a direct connection. */
  via: z.string(),
})
export type ShownKey = z.infer<typeof shownKey>

export const sudoScope = z.object({
  /** root: logged in as root. read, write: granted rights. broad: any command, or any lctl. none: readings would be wrong. */
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
  /** Activity, or the reason for being down: `connecting: host key`, `timed out`. */
  text: z.string(),
  level,
  sinceMs: ms.nullable(),
  /** Time of the next automatic retry. */
  retryAtMs: ms.nullable(),
  /** Consecutive failed attempts, and range of the pauses between them, ms; absent if there is no retry. */
  retry: z.object({ attempt: count, baseMs: z.number(), mostMs: z.number() }).optional(),
  /** Code of the failure it stopped at, for scripts and tickets; absent without one. */
  code: z.string().optional(),
  /** Time of a no-op command, ms. */
  roundTripMs: z.number().nullable(),
  targets: z.array(z.string()),
  version: z.string(),
  cpts: count.nullable(),
  /** Policy of its first service, for example `tbf jobid`. */
  policy: z.string(),
  key: shownKey.nullable(),
  /** Login method: `agent, ED25519`, `key file id_altair`. */
  login: z.string(),
  /** Negotiated algorithms, and whether the key exchange was strict. */
  algorithms: z.string(),
  strictKex: z.boolean().nullable(),
  /** Command execution: in the framed channel, or one channel per command, and why. */
  channel: z.string(),
  sudo: sudoScope,
  /** Implementation of rule expiry on it. */
  timers: z.enum(['systemd', 'shell', 'helper', 'none', 'unknown']),
  /** Server clock minus the console's, ms. */
  clockSkewMs: z.number().nullable(),
  /** Its control period; absent while no controller decides. */
  period: serverPeriod.optional(),
  steps: z.array(checkStep),
})
export type ServerCard = z.infer<typeof serverCard>

/** Cost of one kind of reading on all servers together, over the last ten seconds. */
export const probeCard = z.object({
  id: probeId,
  label: z.string(),
  on: z.boolean(),
  bytesPerSec: z.number(),
  /** Time from sending the command to its last byte, ms per second. */
  serverMsPerSec: z.number(),
  /** CPU time of the commands on the servers, ms per second, if measurable. */
  serverCpuMsPerSec: z.number().nullable(),
  /** Seconds between two readings of one server. */
  everyS: z.number(),
  /** Reason for being slower than configured, or disabled automatically. */
  note: z.string(),
})

/** Sets the token rate T of the OSTs of a cluster; null: unknown. */
export const maxRateChange = z.object({ name: clusterName, maxRate: ostRate })

/** Rule or timer of Sluice that an earlier session left on a server. */
export const leftover = z.object({
  key: z.string(),
  host: z.string(),
  service: z.string(),
  queue: z.string(),
  rule: z.string(),
  text: z.string(),
  /** Unit or process that will stop it; empty if none will. */
  timer: z.string(),
  expiresMs: ms.nullable(),
  /** Author, if known to the audit. */
  owner: z.string(),
})
export type Leftover = z.infer<typeof leftover>

/** Sampling interval: configured and effective, and the reason for the difference. */
export const runningPeriod = z.object({ setMs: z.number(), runMs: z.number(), why: z.string() })

export const clusterCard = z.object({
  name: z.string(),
  env,
  kind: z.enum(['LIVE', 'EMULATED']),
  state: z.enum(['idle', 'connecting', 'connected', 'partial', 'failed']),
  text: z.string(),
  level,
  /** Title of the scenario that the emulator plays. */
  scenario: z.string().optional(),
  sinceMs: ms.nullable(),
  onScreen: z.boolean(),
  mode: z.enum(['observe', 'advise', 'enforce']),
  safeMode,
  /** End of the unlock; null while locked, or if none is needed. */
  unlockedUntilMs: ms.nullable(),
  intervalMs: z.number(),
  /** Effective interval, if longer than configured, and why. */
  period: runningPeriod.optional(),
  servers: z.array(serverCard),
  probes: z.array(probeCard),
  /** Bytes/s and server ms/s of all probes, newest last, one point every 5 s over the last hour; null: a gap. */
  cost: z.object({
    t: z.array(z.number()),
    bytesPerSec: z.array(z.number().nullable()),
    serverMsPerSec: z.array(z.number().nullable()),
  }),
  /** Token rate T of its OSTs, RPC/s; absent for the emulator. */
  rate: z
    .object({
      perOst: z.number(),
      /** True if it was not set; GUESSED_RATE is then assumed. */
      isGuess: z.boolean(),
      /** Largest mean of ten seconds of one OST in the last half hour, a lower bound of T; null: not measured yet. */
      busiest: z.number().nullable(),
    })
    .optional(),
  /** Bytes/s above which probes are throttled. */
  budgetBytesPerSec: z.number(),
  /** Problems that limit operation, worst first, each with the next step. */
  notices: z.array(notice),
  leftovers: z.array(leftover),
  /** Configuration of the cluster; null for the emulator. */
  input: clusterInput.nullable(),
})
export type ClusterCard = z.infer<typeof clusterCard>

/** Private key file that needs a passphrase. */
export const pendingPassphrase = z.object({ id: z.string(), file: z.string(), host: z.string(), attempt: count })
export type PendingPassphrase = z.infer<typeof pendingPassphrase>

export const connectionsFrame = z.object({
  ...streamHead,
  clusters: z.array(clusterCard),
  asks: z.array(pendingPassphrase),
  /** Path of the console's trust store, and its error. */
  trustStore: z.object({ path: z.string(), fault: z.string() }),
  /** Lines of ~/.ssh/config that were ignored, with the reason. */
  ignored: z.array(z.string()),
})
export type ConnectionsFrame = z.infer<typeof connectionsFrame>

/** Progress of `clusters.check`: every step as it changes, then the result. */
export const checkEvent = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('steps'), host: z.string(), steps: z.array(checkStep) }),
  z.object({ kind: z.literal('key'), host: z.string(), key: shownKey }),
  z.object({ kind: z.literal('found'), server: serverCard }),
  z.object({ kind: z.literal('end'), ok: z.boolean() }),
])
export type CheckEvent = z.infer<typeof checkEvent>

/** Names in ~/.ssh/config that denote one host. */
export const sshAliases = z.object({
  file: z.string(),
  fault: z.string(),
  names: z.array(z.object({ name: z.string(), address: z.string() })),
})
export type SshAliases = z.infer<typeof sshAliases>
