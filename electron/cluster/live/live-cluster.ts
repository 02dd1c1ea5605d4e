/**
 * Cluster over SSH: its servers, and the monitor that samples them.
 *
 * Connecting contacts all servers at once. The monitor starts as soon as every server is known or its time is over,
 * with the servers whose roles are known; one that does not answer counts as missing, and joins when it answers. A
 * server that was unknown before joins by a restart of the monitor, as does one whose roles have changed: earlier
 * samples stay in the history.
 */
import { CONTROL_MS, GUESSED_RATE, type ClusterInput, type ServerRole } from '#core/api/clusters.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import type { JobIdSetting } from '#core/lustre/job-owner.ts'
import { readOnlyWhile } from '../remote/read-only.ts'
import { isSampled, type JobIdSettings, type NodeConnection } from '../../base/connection.ts'
import { LiveServer, namesOf } from './live-server.ts'
import { LiveSource } from './live-source.ts'
import type { SshAccess } from './ssh-access.ts'

/** Slow servers are awaited this long after another one is ready, ms. */
const OTHERS_TIMEOUT_MS = 3000
/** After a change of one server, others are given this long before the monitor restarts, ms. */
const SETTLE_MS = 1000
/** A role that is missing for this long is gone for good, rather than until targets are mounted again, ms. */
const ROLE_GONE_MS = 60_000

/** A sampled cluster that can be ended. */
export interface Sampled {
  close(): Promise<void>
}

export interface LiveClusterParts {
  readonly access: SshAccess
  /** Starts sampling a source; its nodes are shells that may not answer. */
  readonly begin: (source: LiveSource) => Sampled
  /** Previous roles of a server without explicit roles that does not answer. */
  readonly rememberedRoles?: ((host: string) => readonly ServerRole[]) | undefined
  readonly onRoles?: ((host: string, roles: readonly ServerRole[]) => void) | undefined
  /** Called when a server answers (again): leftovers there can be searched. */
  readonly onReady?: ((server: LiveServer) => void) | undefined
}

export class LiveCluster {
  readonly #parts: LiveClusterParts
  #input: ClusterInput
  #servers: readonly LiveServer[] = []
  #source: LiveSource | undefined
  #sampled: Sampled | undefined
  #wanted = false
  #connectedMs: number | undefined
  /** Servers whose nodes are in the source. */
  #taken: ReadonlyMap<LiveServer, NodeConnection> = new Map()
  #retryTimer: NodeJS.Timeout | undefined
  #queue: Promise<void> = Promise.resolve()
  /** Available services of each server that answers. */
  readonly #ready = new Map<LiveServer, string>()
  #roleGone: NodeJS.Timeout | undefined
  readonly #listeners = new Set<() => void>()

  constructor(input: ClusterInput, parts: LiveClusterParts) {
    this.#input = input
    this.#parts = parts
    this.#make()
  }

  get input(): ClusterInput {
    return this.#input
  }

  get name(): string {
    return this.#input.name
  }

  get servers(): readonly LiveServer[] {
    return this.#servers
  }

  /** True once the operator has requested the connection. */
  get isWanted(): boolean {
    return this.#wanted
  }

  /** Time of the first sample's source, Unix ms; undefined before. */
  get connectedMs(): number | undefined {
    return this.#connectedMs
  }

  get source(): LiveSource | undefined {
    return this.#source
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Applies another description; one that changes servers restarts the monitor. */
  async change(input: ClusterInput): Promise<void> {
    const sampled = ({ servers, name, intervalMs, controlMs, maxRate, coreShare }: ClusterInput): string =>
      JSON.stringify([servers, name, intervalMs, controlMs, maxRate, coreShare])
    const isSame = sampled(input) === sampled(this.#input)
    this.#input = input
    if (isSame) return this.#changed()
    const wasWanted = this.#wanted
    await this.disconnect()
    for (const s of this.#servers) s.forget()
    this.#make()
    // Or it was requested meanwhile.
    if (wasWanted || this.#wanted) await this.connect()
  }

  /** Resolves when sampling has started, or when no server can be read. */
  async connect(): Promise<void> {
    this.#wanted = true
    this.#changed()
    // A previous end must release its sessions first.
    await this.#queue
    if (!this.#wanted) return
    const brought = this.#servers.map((s) => s.bring())
    await this.#waitFor(brought)
    if (this.#wanted && !this.#source) await this.#serial(() => this.#begin())
  }

  async disconnect(): Promise<void> {
    this.#wanted = false
    clearTimeout(this.#retryTimer)
    this.#retryTimer = undefined
    clearTimeout(this.#roleGone)
    this.#roleGone = undefined
    await this.#serial(async () => {
      await this.#end()
      for (const s of this.#servers) s.leave()
      this.#ready.clear()
    })
    this.#changed()
  }

  /** Unsubscribes from the sessions of a removed cluster. */
  forget(): void {
    for (const s of this.#servers) s.forget()
  }

  /** Waits for all of them, or so many ms after the first that is ready. */
  async #waitFor(brought: readonly Promise<void>[]): Promise<void> {
    const all = Promise.allSettled(brought)
    let off = (): void => undefined
    const first = new Promise<void>((resolve) => {
      off = this.onChange(() => {
        if (!this.#servers.some((s) => s.isReady)) return
        off()
        setTimeout(resolve, OTHERS_TIMEOUT_MS).unref()
      })
    })
    await Promise.race([all, first])
    off()
  }

  #make(): void {
    const names = namesOf(this.#input.servers)
    this.#servers = this.#input.servers.map((s, i) => new LiveServer(s, this.#parts.access, names[i]))
    for (const s of this.#servers) s.onChange(() => this.#followed(s))
  }

  #rolesOf(s: LiveServer): readonly ServerRole[] {
    if (s.input.roles.length > 0) return s.input.roles
    const found = s.facts?.roles ?? []
    return found.length > 0 ? found : (this.#parts.rememberedRoles?.(s.host) ?? [])
  }

  #followed(s: LiveServer): void {
    if (!s.isReady || !s.facts) this.#ready.delete(s)
    else {
      const there = [...s.facts.roles, ...s.facts.services.map((x) => x.service)].join()
      if (this.#ready.get(s) !== there) {
        this.#ready.set(s, there)
        this.#parts.onRoles?.(s.host, s.facts.roles)
        this.#parts.onReady?.(s)
      }
      if (this.#source) this.#source.jobIdName = this.#jobIdName
      if (this.#wanted && this.#connectedMs !== undefined) this.#compareRoles(s)
    }
    this.#changed()
  }

  /**
   * Restarts the monitor if a server serves in a role in which it is not sampled, or no longer in one in which it is.
   */
  #compareRoles(s: LiveServer): void {
    const change = this.#roleChange(s)
    // Its roles were unknown when sampling started, or there was nothing to sample.
    if (change === 'more') return this.#restart()
    if (change === 'less') {
      this.#roleGone ??= setTimeout(() => {
        this.#roleGone = undefined
        if (this.#servers.some((x) => x.isReady && this.#roleChange(x) === 'less')) this.#restart()
      }, ROLE_GONE_MS).unref()
    }
  }

  #roleChange(s: LiveServer): 'more' | 'less' | undefined {
    const had = this.#taken.get(s)?.roles ?? []
    // A server without any role is booting or being taken out of service: it counts as missing, under its previous name
    // and position.
    const has = this.#nodeOf(s)?.roles
    if (!has) return undefined
    if (has.some((r) => !had.includes(r))) return 'more'
    return had.some((r) => !has.includes(r)) ? 'less' : undefined
  }

  get #jobIdName(): string | undefined {
    return this.#servers.map((s) => s.facts?.jobid?.name).find((name) => name !== undefined)
  }

  #nodeOf(s: LiveServer): NodeConnection | undefined {
    const node = s.node(this.#rolesOf(s))
    // Whatever the code above does: while read-only, only readings are sent from this machine.
    return node && readOnlyWhile(node, () => this.#input.safeMode === 'read-only')
  }

  /** Job id settings of every storage or metadata server that was discovered. */
  #jobIdSettings(): JobIdSettings {
    const out = new Map<string, JobIdSetting | undefined>()
    for (const s of this.#servers) {
      const isServer = this.#rolesOf(s).some((r) => r === 'oss' || r === 'mds')
      if (s.facts && isServer) out.set(s.host, s.facts.jobid)
    }
    return out
  }

  #restart(): void {
    this.#retryTimer ??= setTimeout(() => {
      this.#retryTimer = undefined
      void this.#serial(async () => {
        await this.#end()
        if (this.#wanted) this.#begin()
      })
    }, SETTLE_MS)
  }

  #begin(): void {
    // It may have been requested several times, and may no longer be wanted when it runs.
    if (!this.#wanted || this.#source) return
    const taken = new Map<LiveServer, NodeConnection>()
    for (const s of this.#servers) {
      const node = this.#nodeOf(s)
      if (node) taken.set(s, node)
    }
    const nodes = [...taken.values()]
    this.#connectedMs = Date.now()
    // Without any server there is nothing to sample yet; the first one that appears starts it.
    if (!nodes.some(isSampled)) return this.#changed()
    this.#taken = taken
    const { name: cluster, intervalMs, controlMs = CONTROL_MS, coreShare } = this.#input
    const maxRate = this.#input.maxRate ?? GUESSED_RATE
    const isRateGuessed = this.#input.maxRate === null
    const periodNs = intervalMs * NS_PER_MS
    const jobIdName = this.#jobIdName
    const jobIdSettings = (): JobIdSettings => this.#jobIdSettings()
    this.#source = new LiveSource({
      cluster,
      nodes,
      maxRate,
      isRateGuessed,
      periodNs,
      controlNs: controlMs * NS_PER_MS,
      jobIdName,
      jobIdSettings,
      coreShare,
    })
    this.#sampled = this.#parts.begin(this.#source)
    this.#changed()
  }

  async #end(): Promise<void> {
    const sampled = this.#sampled
    this.#sampled = undefined
    this.#taken = new Map()
    this.#connectedMs = undefined
    await this.#source?.stop()
    this.#source = undefined
    await sampled?.close()
  }

  /** Runs starts and ends one after another. */
  #serial(work: () => Promise<void> | void): Promise<void> {
    this.#queue = this.#queue.then(work, work)
    return this.#queue
  }

  #changed(): void {
    for (const l of [...this.#listeners]) l()
  }
}
