/** A cluster opened for one command: connected, sampled, and closed again. */
import { formatFailure, fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { ClusterInput } from '#core/api/clusters.ts'
import type { LiveServer } from '../cluster/live/live-server.ts'
import type { OpenSource, Source } from '../host/sources/source.ts'
import { exitCodeOf, type SshFailure } from '../ssh/failures.ts'
import { dataFolder, sshOptions, type ClustersFlags } from './clusters-flags.ts'
import { findCluster } from './known-clusters.ts'
import { EXIT, jsonText, line, plain, type ExitCode } from './output.ts'

/** Longest wait for the first sample after the servers were found, beside two sampling intervals, ms. */
const SAMPLE_MS = 20_000
/** Longest wait for a server that is connected and was not read yet, ms. */
const SLOW_MS = 10_000
/** Failing servers that are named one by one. */
const NAMED = 16
const REASON = 300

export interface OpenOptions {
  /** Whether lost sessions are brought again: for commands that go on until somebody ends them. */
  readonly comesBack: boolean
  /** What the emulator plays. */
  readonly scenarioFile?: string | undefined
}

/** What could not be opened, and the code to end with. */
export interface OpenFailure {
  readonly failures: readonly Failure[]
  readonly code: ExitCode
}

export interface OpenCluster {
  readonly name: string
  /** Of its present connection, or of the one before: it is another one when a server that nobody knew came in. */
  readonly source: Source
  /** Whether it is sampled now: a live cluster is not while it begins again. */
  readonly isSampled: boolean
  /** As written down; undefined for the emulator. */
  readonly input: ClusterInput | undefined
  /** Servers over SSH; none for the emulator. */
  readonly servers: readonly LiveServer[]
  /** Servers that are not read now, with the reason. */
  missing(): { readonly host: string; readonly reason: string }[]
  close(): Promise<void>
}

const failureOf = (s: LiveServer): Failure | undefined => {
  if (s.refusal) return s.refusal
  const { state } = s
  return state.kind === 'refused' || state.kind === 'lost' ? state.failure : undefined
}

/** One code for many servers: what a person must settle first comes first. */
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

/** Says on stderr which servers do not take part, and why. */
function sayMissing(servers: readonly LiveServer[]): void {
  const failures = failuresOf(servers)
  for (const f of failures.slice(0, NAMED)) process.stderr.write(`sluice: ${plain(formatFailure(f))}\n`)
  if (failures.length > NAMED) process.stderr.write(`sluice: and ${failures.length - NAMED} servers more\n`)
}

/** Ends the command: every failure as a line on stderr, and as one JSON line where that was asked for. */
export function stopOpening({ failures, code }: OpenFailure, json: true | undefined): never {
  for (const f of failures.slice(0, NAMED)) {
    process.stderr.write(`sluice: ${plain(formatFailure(f))}\n`)
    if (json) line(jsonText({ error: errorOf(f) }))
  }
  if (failures.length > NAMED) process.stderr.write(`sluice: and ${failures.length - NAMED} servers more\n`)
  process.exit(code)
}

function errorOf(f: Failure): object {
  const { hostKey } = f as SshFailure
  const { host, port, type, fingerprint, verdict } = hostKey ?? {}
  return { code: f.code, message: formatFailure(f), ...(hostKey ? { host, port, type, fingerprint, verdict } : {}) }
}

const isRefused = (s: LiveServer): boolean => s.state.kind === 'refused'

/** Whether no server will ever answer again without a person doing something first. */
export const isHopeless = ({ servers }: OpenCluster): boolean => servers.length > 0 && servers.every(isRefused)

/** What a command ends with that went on for a while: done, unless nothing is left to read. */
export const worstOf = ({ servers }: OpenCluster): ExitCode =>
  servers.length === 0 || servers.some((s) => s.isReady) ? EXIT.done : worstCode(failuresOf(servers))

/** Why servers are missing, as a code: what a person must settle first comes first. */
export const codeOfMissing = ({ servers }: OpenCluster): ExitCode =>
  worstCode(failuresOf(servers.filter((s) => !s.isReady)))

/** Partial where one of these servers is not read. */
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

/** Whether nothing is known of a server: its first reading takes longer than a sample waits, and it is not missing yet. */
const isUnread = (source: Source | undefined, host: string): boolean =>
  source?.monitor.node(host) !== undefined && !source.monitor.reading(host)

/** A server that is connected and slow is waited for by a command that looks once; one that is not connected is not. */
const allRead = (opened: OpenSource): Promise<void> =>
  waitFor(() => {
    const { source, servers } = opened
    return !servers.some((s) => s.isReady && (source?.monitor.missing.has(s.host) || isUnread(source, s.host)))
  }, SLOW_MS)

/** Servers that are not read now, each with its reason. */
function missingIn({ source, servers }: OpenSource): { host: string; reason: string }[] {
  const silent = servers.filter((s) => !s.isReady).map((s) => ({ host: s.host, reason: reasonOf(s) }))
  const known = new Set(silent.map((s) => s.host))
  const gone = [...(source?.monitor.missing ?? [])].filter(([h]) => !known.has(h))
  for (const [h] of gone) known.add(h)
  const unread = servers.filter((s) => !known.has(s.host) && isUnread(source, s.host))
  return [
    ...silent,
    ...gone.map(([h, { reason }]) => ({ host: h, reason: plain(reason) })),
    ...unread.map(({ host: h }) => ({ host: h, reason: 'it was not read yet' })),
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

/**
 * Opens `emulator`, or a cluster over SSH, and waits for its first sample. Servers that do not answer are named on stderr; where none
 * does, that is the failure.
 */
export async function openCluster(
  name: string,
  flags: ClustersFlags,
  { comesBack, scenarioFile }: OpenOptions,
): Promise<Result<OpenCluster, OpenFailure>> {
  const refused = (failure: Failure, code: ExitCode): Result<never, OpenFailure> => fail({ failures: [failure], code })
  const input = name === 'emulator' ? undefined : findCluster(flags, name)
  if (input && !input.ok) return refused(input.error, EXIT.usage)
  const request = input
    ? { kind: 'cluster' as const, input: input.value, dataDir: dataFolder(flags), ssh: sshOptions(flags, comesBack) }
    : { kind: 'emulator' as const, scenarioFile }
  // What samples and writes is half of what a command loads, and is of no use to a name that nobody knows.
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
  sayMissing(servers)
  if (!source) {
    await opened.close()
    const why = 'none of the servers that answer is an OSS or an MDS'
    return refused({ code: 'NO_SERVERS', what: `${name} has nothing to read`, why }, EXIT.failed)
  }
  await firstSample(opened, SAMPLE_MS + 2 * (input?.value.intervalMs ?? 0))
  if (!comesBack) await allRead(opened)
  return ok(inUse(opened, source, input?.value))
}
