/**
 * A cluster over SSH: its servers, and the monitor that samples them.
 *
 * Connecting brings all servers at once. The monitor begins as soon as every server is known or has had its time, with the servers whose
 * roles are known; one that does not answer is missing in it, and comes in when it answers. A server of which nothing was
 * known before is taken in by beginning again, as is one that serves in other roles than before: what was sampled stays in the history.
 */
import type { ClusterInput, ServerRole } from '#core/api/clusters.ts'
import { NS_PER_MS } from '#core/base/units.ts'
import type { JobIdSetting } from '#core/lustre/job-owner.ts'
import { readOnlyWhile } from '../remote/read-only.ts'
import { isLustreServer, type JobIdSettings, type NodeConnection } from '../../base/connection.ts'
import { LiveServer, namesOf } from './live-server.ts'
import { LiveSource } from './live-source.ts'
import type { SshAccess } from './ssh-access.ts'

/** Servers that are slow to answer are not waited for longer once another one is ready, ms. */
const OTHERS_MS = 3000
/** After a change of one server, others are given this long before the cluster begins anew, ms. */
const SETTLE_MS = 1000
/** A role is gone for good, and not until targets are mounted again, after this, ms. */
const ROLE_GONE_MS = 60_000

/** What a sampled cluster is to this room: it can be ended. */
export interface Sampled {
  close(): Promise<void>
}

export interface LiveClusterParts {
  readonly access: SshAccess
  /** Begins to sample a source; the nodes in it are shells that may not answer. */
  readonly begin: (source: LiveSource) => Sampled
  /** Roles that a server had the last time, where it was not written down and does not answer. */
  readonly rememberedRoles?: ((host: string) => readonly ServerRole[]) | undefined
  readonly onRoles?: ((host: string, roles: readonly ServerRole[]) => void) | undefined
  /** A server answers (again): what was left there can be looked for. */
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
  #anew: NodeJS.Timeout | undefined
  #turn: Promise<void> = Promise.resolve()
  /** By what is there of each server that answers. */
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

  /** Whether the operator asked for it to be connected. */
  get isWanted(): boolean {
    return this.#wanted
  }

  /** Unix ms of the first sample's source; undefined before. */
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

  /** Takes another description; one that changes servers begins anew. */
  async change(input: ClusterInput): Promise<void> {
    const isSame =
      JSON.stringify([input.servers, input.name, input.intervalMs, input.maxRate, input.coreShare]) ===
      JSON.stringify([
        this.#input.servers,
        this.#input.name,
        this.#input.intervalMs,
        this.#input.maxRate,
        this.#input.coreShare,
      ])
    this.#input = input
    if (isSame) return this.#changed()
    const wasWanted = this.#wanted
    await this.disconnect()
    for (const s of this.#servers) s.forget()
    this.#make()
    // Or somebody asked for it meanwhile.
    if (wasWanted || this.#wanted) await this.connect()
  }

  /** Resolves when sampling has begun, or when no server can be read. */
  async connect(): Promise<void> {
    this.#wanted = true
    this.#changed()
    // What still ends lets go of its sessions first.
    await this.#turn
    if (!this.#wanted) return
    const brought = this.#servers.map((s) => s.bring())
    await this.#waitFor(brought)
    if (this.#wanted && !this.#source) await this.#serial(() => this.#begin())
  }

  async disconnect(): Promise<void> {
    this.#wanted = false
    clearTimeout(this.#anew)
    this.#anew = undefined
    clearTimeout(this.#roleGone)
    this.#roleGone = undefined
    await this.#serial(async () => {
      await this.#end()
      for (const s of this.#servers) s.leave()
      this.#ready.clear()
    })
    this.#changed()
  }

  /** For a cluster that is removed: nothing of it follows the sessions any more. */
  forget(): void {
    for (const s of this.#servers) s.forget()
  }

  /** All of them, or so many ms after the first that is ready. */
  async #waitFor(brought: readonly Promise<void>[]): Promise<void> {
    const all = Promise.allSettled(brought)
    let off = (): void => undefined
    const first = new Promise<void>((resolve) => {
      off = this.onChange(() => {
        if (!this.#servers.some((s) => s.isReady)) return
        off()
        setTimeout(resolve, OTHERS_MS).unref()
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

  /** Begins again when a server serves in a role in which it is not sampled, or no longer in one in which it is. */
  #compareRoles(s: LiveServer): void {
    const change = this.#roleChange(s)
    // Nothing was known of it when sampling began, or nothing was there to sample.
    if (change === 'more') return this.#beginAnew()
    if (change === 'less') {
      this.#roleGone ??= setTimeout(() => {
        this.#roleGone = undefined
        if (this.#servers.some((x) => x.isReady && this.#roleChange(x) === 'less')) this.#beginAnew()
      }, ROLE_GONE_MS).unref()
    }
  }

  #roleChange(s: LiveServer): 'more' | 'less' | undefined {
    const had = this.#taken.get(s)?.roles ?? []
    // One without any role is being booted or taken out of service: it is missing, under the name and in the place that it had.
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
    // Whatever a verb above does: while it is read-only nothing but readings leaves this machine.
    return node && readOnlyWhile(node, () => this.#input.safeMode === 'read-only')
  }

  /** Of every server of storage or metadata that was looked at. */
  #jobIdSettings(): JobIdSettings {
    const out = new Map<string, JobIdSetting | undefined>()
    for (const s of this.#servers) {
      const isServer = this.#rolesOf(s).some((r) => r === 'oss' || r === 'mds')
      if (s.facts && isServer) out.set(s.host, s.facts.jobid)
    }
    return out
  }

  #beginAnew(): void {
    this.#anew ??= setTimeout(() => {
      this.#anew = undefined
      void this.#serial(async () => {
        await this.#end()
        if (this.#wanted) this.#begin()
      })
    }, SETTLE_MS)
  }

  #begin(): void {
    // It may have been asked for several times, and not be wanted any more when its turn comes.
    if (!this.#wanted || this.#source) return
    const taken = new Map<LiveServer, NodeConnection>()
    for (const s of this.#servers) {
      const node = this.#nodeOf(s)
      if (node) taken.set(s, node)
    }
    const nodes = [...taken.values()]
    this.#connectedMs = Date.now()
    // Without any server there is nothing to sample yet; the first that turns up begins it.
    if (!nodes.some(isLustreServer)) return this.#changed()
    this.#taken = taken
    const { name: cluster, maxRate, intervalMs, coreShare } = this.#input
    const periodNs = intervalMs * NS_PER_MS
    const jobIdName = this.#jobIdName
    const jobIdSettings = (): JobIdSettings => this.#jobIdSettings()
    this.#source = new LiveSource({ cluster, nodes, maxRate, periodNs, jobIdName, jobIdSettings, coreShare })
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

  /** Begins and ends come one after the other. */
  #serial(work: () => Promise<void> | void): Promise<void> {
    this.#turn = this.#turn.then(work, work)
    return this.#turn
  }

  #changed(): void {
    for (const l of [...this.#listeners]) l()
  }
}
