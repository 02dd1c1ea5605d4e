/** Cluster opened for one command: connect, sample, close. */
import { formatFailure, fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { ClusterInput } from '#core/api/clusters.ts'
import type { LiveServer } from '../cluster/live/live-server.ts'
import type { OpenSource, Source } from '../host/sources/source.ts'
import { exitCodeOf, type SshFailure } from '../ssh/failures.ts'
import { dataFolder, sshOptions, type ClustersFlags } from './clusters-flags.ts'
import { findCluster } from './known-clusters.ts'
import { EXIT, jsonText, line, plain, type ExitCode } from './output.ts'

/** Longest wait for the first sample after the servers were found, in addition to two sampling intervals, ms. */
const SAMPLE_MS = 20_000
/** Longest wait for the first reading of a connected server, ms. */
const SLOW_MS = 10_000
/** Most failing servers that are listed individually. */
const NAMED = 16
const REASON = 300

export interface OpenOptions {
  /** Set to reconnect lost sessions: for commands that run until they are interrupted. */
  readonly reconnects: boolean
  /** Scenario file for the emulator. */
  readonly scenarioFile?: string | undefined
  /** Control period of each server over SSH; by default that of the cluster. */
  readonly controlMs?: number | undefined
}

/** Failures of an open, and the exit code. */
export interface OpenFailure {
  readonly failures: readonly Failure[]
  readonly code: ExitCode
}

export interface OpenCluster {
  readonly name: string
  /** Source of the current connection, or of the last one; it is replaced when a new server is found. */
  readonly source: Source
  /** True while the cluster is sampled; false during a reconnect. */
  readonly isSampled: boolean
  /** Configuration of the cluster; undefined for the emulator. */
  readonly input: ClusterInput | undefined
  /** Servers over SSH; empty for the emulator. */
  readonly servers: readonly LiveServer[]
  /** Servers that are not read at present, with the reason. */
  missing(): { readonly host: string; readonly reason: string }[]
  close(): Promise<void>
}

const failureOf = (s: LiveServer): Failure | undefined => {
  if (s.refusal) return s.refusal
  const { state } = s
  return state.kind === 'refused' || state.kind === 'lost' ? state.failure : undefined
}

/** Combines the failures of several servers into one exit code; those that need action by the operator take precedence. */
export function worstCode(failures: readonly Failure[]): ExitCode {
  const codes = failures.map(exitCodeOf)
  return ([EXIT.hostKey, EXIT.authentication, EXIT.usage] as const).find((c) => codes.includes(c)) ?? EXIT.failed
}

const reasonOf = (s: LiveServer): string => {
  const f = failureOf(s)
  return f ? plain(f.why === undefined ? f.what : `${f.what}: ${f.why}`).slice(0, REASON) : s.state.kind
}

function failuresOf(servers: readonly LiveServer[]): Failure[] {
  const named = servers.flatMap((s) => {
    const f = failureOf(s)
    return f ? [f] : s.isReady ? [] : [{ code: 'NOT_READY', what: `${s.host} did not answer in time` }]
  })
  return named
}

/** Prints to stderr which servers are missing, and why. */
function printMissing(servers: readonly LiveServer[]): void {
  const failures = failuresOf(servers)
  for (const f of failures.slice(0, NAMED)) process.stderr.write(`sluice: ${plain(formatFailure(f))}\n`)
  if (failures.length > NAMED) process.stderr.write(`sluice: and ${failures.length - NAMED} more servers\n`)
}

/** Ends the command: prints each failure to stderr, and one JSON line if requested. */
export function stopOpening({ failures, code }: OpenFailure, json: true | undefined): never {
  for (const f of failures.slice(0, NAMED)) {
    process.stderr.write(`sluice: ${plain(formatFailure(f))}\n`)
    if (json) line(jsonText({ error: errorOf(f) }))
  }
  if (failures.length > NAMED) process.stderr.write(`sluice: and ${failures.length - NAMED} more servers\n`)
  process.exit(code)
}

function errorOf(f: Failure): object {
  const { hostKey } = f as SshFailure
  const { host, port, type, fingerprint, verdict } = hostKey ?? {}
  return { code: f.code, message: formatFailure(f), ...(hostKey ? { host, port, type, fingerprint, verdict } : {}) }
}

const isRefused = (s: LiveServer): boolean => s.state.kind === 'refused'

/** True if no server can recover without action by the operator. */
export const isHopeless = ({ servers }: OpenCluster): boolean => servers.length > 0 && servers.every(isRefused)

/** Exit code of a long-running command: done if any server can still be read. */
export const exitCodeOfRun = ({ servers }: OpenCluster): ExitCode =>
  servers.length === 0 || servers.some((s) => s.isReady) ? EXIT.done : worstCode(failuresOf(servers))

/** Exit code for the missing servers; failures that need action by the operator take precedence. */
export const codeOfMissing = ({ servers }: OpenCluster): ExitCode =>
  worstCode(failuresOf(servers.filter((s) => !s.isReady)))

/** Exit code `partial` if one of the hosts is missing. */
export function worstOfMissing(cluster: OpenCluster, hosts: readonly string[]): ExitCode {
  return cluster.missing().some((m) => hosts.includes(m.host)) ? EXIT.partial : EXIT.done
}

function waitFor(is: () => boolean, waitMs: number): Promise<void> {
  const untilMs = performance.now() + waitMs
  return new Promise((resolve) => {
    const look = setInterval(() => {
      if (!is() && performance.now() < untilMs) return
      clearInterval(look)
      resolve()
    }, 20)
  })
}

const firstSample = (opened: OpenSource, waitMs: number): Promise<void> =>
  waitFor(() => (opened.source?.monitor.sample ?? 0) > 0, waitMs)

/** True if a server has no reading yet, for example because its first one takes longer than a sample waits. */
const isUnread = (source: Source | undefined, host: string): boolean =>
  source?.monitor.node(host) !== undefined && !source.monitor.reading(host)

/** Waits for connected but slow servers; those that are not connected are not waited for. */
const allRead = (opened: OpenSource): Promise<void> =>
  waitFor(() => {
    const { source, servers } = opened
    return !servers.some((s) => s.isReady && (source?.monitor.missing.has(s.host) || isUnread(source, s.host)))
  }, SLOW_MS)

/** Servers that are not read at present, each with its reason. */
function missingIn({ source, servers }: OpenSource): { host: string; reason: string }[] {
  const silent = servers.filter((s) => !s.isReady).map((s) => ({ host: s.host, reason: reasonOf(s) }))
  const known = new Set(silent.map((s) => s.host))
  const gone = [...(source?.monitor.missing ?? [])].filter(([h]) => !known.has(h))
  for (const [h] of gone) known.add(h)
  const unread = servers.filter((s) => !known.has(s.host) && isUnread(source, s.host))
  return [
    ...silent,
    ...gone.map(([h, { reason }]) => ({ host: h, reason: plain(reason) })),
    ...unread.map(({ host: h }) => ({ host: h, reason: 'not read yet' })),
  ]
}

function inUse(opened: OpenSource, first: Source, input: ClusterInput | undefined): OpenCluster {
  let newest = first
  return {
    name: opened.name,
    input,
    servers: opened.servers,
    get source() {
      newest = opened.source ?? newest
      return newest
    },
    get isSampled() {
      return opened.source !== undefined
    },
    missing: () => missingIn(opened),
    close: () => opened.close(),
  }
}

/** Control is never less frequent than sampling. */
const withControl = (input: ClusterInput, controlMs: number): ClusterInput => ({
  ...input,
  controlMs,
  intervalMs: Math.max(input.intervalMs, controlMs),
})

/**
 * Opens `emulator` or a cluster over SSH, and waits for its first sample. Prints servers that do not answer to stderr; fails if
 * none does.
 */
export async function openCluster(
  name: string,
  flags: ClustersFlags,
  { reconnects, scenarioFile, controlMs }: OpenOptions,
): Promise<Result<OpenCluster, OpenFailure>> {
  const refused = (failure: Failure, code: ExitCode): Result<never, OpenFailure> => fail({ failures: [failure], code })
  const found = name === 'emulator' ? undefined : findCluster(flags, name)
  const input = found?.ok && controlMs !== undefined ? ok(withControl(found.value, controlMs)) : found
  if (input && !input.ok) return refused(input.error, EXIT.usage)
  const request = input
    ? { kind: 'cluster' as const, input: input.value, dataDir: dataFolder(flags), ssh: sshOptions(flags, reconnects) }
    : { kind: 'emulator' as const, scenarioFile }
  // Loaded on demand: sampling and writing are half of the modules of a command, and an unknown name needs neither.
  const { openSource } = await import('../host/sources/open.ts')
  const begun = await openSource(request)
  if (!begun.ok) return refused(begun.error, EXIT.failed)
  const opened = begun.value
  const { servers, source } = opened
  for (const notice of opened.notices) process.stderr.write(`sluice: ${plain(formatFailure(notice))}\n`)
  if (servers.length > 0 && !servers.some((s) => s.isReady)) {
    const failures = failuresOf(servers)
    await opened.close()
    return fail({ failures, code: worstCode(failures) })
  }
  printMissing(servers)
  if (!source) {
    await opened.close()
    const why = 'no server that answers is an OSS or MDS'
    return refused({ code: 'NO_SERVERS', what: `${name} has nothing to read`, why }, EXIT.failed)
  }
  await firstSample(opened, SAMPLE_MS + 2 * (input?.value.intervalMs ?? 0))
  if (!reconnects) await allRead(opened)
  return ok(inUse(opened, source, input?.value))
}
