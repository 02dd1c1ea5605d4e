/**
 * The clusters that this console knows: written down, connected, put on screen. The emulator is always there; it stands still while
 * another source is on screen.
 */
import { join } from 'node:path'
import {
  clusterInput,
  type CheckEvent,
  type ClusterInput,
  type ProbeId,
  type SafeMode,
  type ServerInput,
  type ServerRole,
} from '#core/api/clusters.ts'
import type { NodeEnd } from '#core/api/rule-edits.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { readClusters, writeClusters } from '../../cluster/live/cluster-file.ts'
import type { SshAccess, SshAccessOptions } from '../../cluster/live/ssh-access.ts'
import type { Changing } from '../frame-pump.ts'
import type { Console } from '../console.ts'
import type { OnScreen } from '../on-screen.ts'
import { Asks } from './asks.ts'
import { lookForLeftovers, removeLeftovers } from './leftovers.ts'
import { checkServer } from './check.ts'
import { LiveConsole } from './live-console.ts'
import { openAccess, openRoles } from '../sources/data-folder.ts'
import type { KeptRoles } from '../sources/kept-roles.ts'
import type { SampledClusterParts } from '../sources/sampled-cluster.ts'
import { aliasesOf } from './ssh-aliases.ts'
import type { KeptSecrets } from '../shell/kept-secrets.ts'
import { trustKey, type TrustInput } from './trust.ts'

const CLUSTERS = 64
/** Pause before leftovers that could not be looked up are looked up again; it doubles, ms. */
const LOOK_AGAIN_MS = { least: 2000, most: 60_000 } as const

export interface ClusterServiceParts {
  readonly onScreen: OnScreen
  readonly emulator: Console
  /** Folder that clusters and trusted keys are kept in; undefined: in memory only. */
  readonly dataDir: string | undefined
  /** Clusters of this run that are not written down (`--config`). */
  readonly clusters?: readonly ClusterInput[] | undefined
  readonly ssh?: SshAccessOptions | undefined
  /** Passphrases that the system's keychain keeps. */
  readonly secrets?: KeptSecrets | undefined
  /** Makes the console of servers that were found. */
  readonly begin: SampledClusterParts<Console>['begin']
  /** Puts what an operator chose on record. */
  readonly record: (server: string, text: string) => Result<undefined>
  /** Looks after a cluster while it is sampled. */
  readonly watch?: SampledClusterParts<Console>['watch']
}

const noSuch = (name: string): Result<never> =>
  fail({ code: 'NO_SUCH_CLUSTER', what: `There is no cluster called ${name}`, next: 'Choose one that is listed.' })

export class ClusterService implements Changing {
  readonly access: SshAccess
  readonly asks: Asks
  /** Why clusters are not written down, or could not be read. */
  fault: string = ''
  readonly emulator: Console
  readonly onScreen: OnScreen
  readonly #parts: ClusterServiceParts
  readonly #roles: KeptRoles
  readonly #clusters = new Map<string, LiveConsole>()
  readonly #written = new Set<string>()
  /** Kept clusters whose names others have on this run. */
  readonly #hidden: ClusterInput[] = []
  readonly #listeners = new Set<() => void>()
  /** Looks for leftovers that are under way. */
  readonly #looks = new Set<Promise<void>>()
  readonly #lookAgain = new Map<LiveConsole, NodeJS.Timeout>()
  /** Names whose console is to be shown as soon as there is one. */
  #wanted: string | undefined

  constructor(parts: ClusterServiceParts) {
    this.#parts = parts
    this.onScreen = parts.onScreen
    this.emulator = parts.emulator
    this.asks = new Asks(() => this.changed(), parts.secrets)
    const { dataDir } = parts
    this.access = openAccess(dataDir, { ask: this.asks.passphrase, ...parts.ssh })
    this.#roles = openRoles(dataDir)
    const kept = this.#file === undefined ? ok([]) : readClusters(this.#file, true)
    if (!kept.ok) this.fault = `${kept.error.what}: ${kept.error.why ?? ''}`
    for (const input of kept.ok ? kept.value : []) {
      this.#add(input)
      this.#written.add(input.name)
    }
    for (const input of parts.clusters ?? []) {
      // For this run it stands in the place of a kept one of that name, which stays as it was written.
      if (this.#written.delete(input.name))
        this.#hidden.push(...(kept.ok ? kept.value : []).filter((k) => k.name === input.name))
      this.#add(input)
    }
    this.onScreen.onChange(() => this.changed())
  }

  get #file(): string | undefined {
    return this.#parts.dataDir === undefined ? undefined : join(this.#parts.dataDir, 'clusters.yaml')
  }

  get list(): readonly LiveConsole[] {
    return [...this.#clusters.values()]
  }

  find(name: string): LiveConsole | undefined {
    return this.#clusters.get(name)
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  changed(): void {
    for (const l of [...this.#listeners]) l()
  }

  aliases(): ReturnType<typeof aliasesOf> {
    return aliasesOf(this.access)
  }

  /** Failures: CLUSTER_NAME, CLUSTER_BUSY, CLUSTERS_FULL, CLUSTERS_NOT_WRITTEN. */
  async save(given: ClusterInput, replaces?: string): Promise<Result<undefined>> {
    const input = clusterInput.parse(given)
    const before = replaces === undefined ? undefined : this.#clusters.get(replaces)
    // Rules of this console go as long as it may still remove them.
    const isClosed = input.safeMode === 'read-only' && before?.cluster.input.safeMode !== 'read-only'
    const wasRoot = before?.cluster.input.allowRoot ?? false
    if (isClosed || (wasRoot && !input.allowRoot)) await before?.standDown()
    const refuse = (code: string, why: string, next: string): Result<undefined> =>
      fail({
        code,
        what: `${input.name} was not saved`,
        why,
        unaffected: 'Clusters that are there stay as they are.',
        next,
      })
    const isNew = !this.#clusters.has(replaces ?? input.name)
    if (
      input.name !== replaces &&
      (this.#clusters.has(input.name) || input.name === this.emulator.monitor.source.cluster)
    ) {
      return refuse('CLUSTER_NAME', 'there is a cluster of that name', 'Give it another name.')
    }
    if (replaces !== undefined && isNew) return noSuch(replaces)
    if (isNew && this.#clusters.size >= CLUSTERS) return refuse('CLUSTERS_FULL', `there are ${CLUSTERS}`, 'Remove one.')
    const old = replaces === undefined ? undefined : this.#clusters.get(replaces)
    if (input.allowRoot !== wasRoot) {
      const recorded = this.#parts.record(input.name, `root login ${input.allowRoot ? 'may write' : 'may not write'}`)
      // A choice to write less holds all the same.
      if (!recorded.ok && input.allowRoot) return recorded
    }
    // What was named for this run only is changed for this run only.
    if (!old || this.#written.has(old.cluster.name)) {
      const inputs = this.list.filter((c) => this.#written.has(c.cluster.name)).map((c) => c.cluster.input)
      const next = old ? inputs.map((i) => (i.name === replaces ? input : i)) : [...inputs, input]
      const written = this.#file === undefined ? ok(undefined) : writeClusters(this.#file, [...this.#hidden, ...next])
      if (!written.ok) return written
      if (replaces !== undefined) this.#written.delete(replaces)
      this.#written.add(input.name)
    }
    if (old && replaces !== undefined) {
      this.#clusters.delete(replaces)
      this.#clusters.set(input.name, old)
      await old.cluster.change(input)
    } else this.#add(input)
    this.changed()
    old?.console?.monitor.changed()
    return ok(undefined)
  }

  async remove(name: string): Promise<Result<undefined>> {
    const live = this.#clusters.get(name)
    if (!live) return noSuch(name)
    const left = this.list.filter((c) => c !== live && this.#written.has(c.cluster.name)).map((c) => c.cluster.input)
    const written = this.#file === undefined ? ok(undefined) : writeClusters(this.#file, [...this.#hidden, ...left])
    if (!written.ok) return written
    this.#clusters.delete(name)
    this.#written.delete(name)
    await live.cluster.disconnect()
    live.cluster.forget()
    this.changed()
    return ok(undefined)
  }

  /** Begins to connect; what comes of it is seen in the cards. */
  connect(name: string): Result<Promise<void>> {
    const live = this.#clusters.get(name)
    if (!live) return noSuch(name)
    return ok(live.cluster.connect())
  }

  async disconnect(name: string): Promise<Result<undefined>> {
    const live = this.#clusters.get(name)
    if (!live) return noSuch(name)
    if (this.#wanted === name) this.#wanted = undefined
    await live.cluster.disconnect()
    return ok(undefined)
  }

  /** Puts a cluster on screen, or the emulator (null). One that is being connected comes when it has begun. */
  show(name: string | null): Result<undefined> {
    this.#wanted = undefined
    if (name === null) {
      this.#showConsole(this.emulator)
      return ok(undefined)
    }
    const live = this.#clusters.get(name)
    if (!live) return noSuch(name)
    if (live.console) this.#showConsole(live.console)
    else if (live.cluster.isWanted) this.#wanted = name
    else {
      return fail({
        code: 'NOT_CONNECTED',
        what: `${name} cannot be shown`,
        why: 'it is not connected',
        unaffected: 'What is on screen stays.',
        next: 'Connect it first.',
      })
    }
    return ok(undefined)
  }

  #showConsole(console: Console): void {
    const { emulator } = this
    // Nobody looks at the emulator while another source is on screen.
    if (console !== emulator && this.onScreen.console === emulator) this.#speed = emulator.facts.speed()
    emulator.setSpeed?.(
      console === emulator ? (this.onScreen.console === emulator ? emulator.facts.speed() : this.#speed) : 0,
    )
    this.onScreen.show(console)
    this.changed()
  }
  #speed = 1

  setSafeMode(name: string, safeMode: SafeMode): Promise<Result<undefined>> {
    const live = this.#clusters.get(name)
    if (!live) return Promise.resolve(noSuch(name))
    live.console?.guard?.lock()
    return this.save({ ...live.cluster.input, safeMode }, name)
  }

  /**
   * Lets logins as root write on a cluster, or not any more. Failures: NO_SUCH_CLUSTER; to allow it NOT_TYPED, NOT_ON_RECORD;
   * those of saving.
   */
  setAllowRoot(name: string, allow: boolean, typed: string): Promise<Result<undefined>> {
    const live = this.#clusters.get(name)
    if (!live) return Promise.resolve(noSuch(name))
    if (allow && typed !== name) {
      return Promise.resolve(
        fail({
          code: 'NOT_TYPED',
          what: `Root may not write to ${name}`,
          why: 'what was typed is not its name',
          unaffected: 'It can be watched.',
          next: `Type ${name}.`,
        }),
      )
    }
    return this.save({ ...live.cluster.input, allowRoot: allow }, name)
  }

  /** Switches a kind of reading on or off, now and at the next start. */
  async setProbe(name: string, probe: ProbeId, on: boolean): Promise<Result<undefined>> {
    const live = this.#clusters.get(name)
    if (!live) return noSuch(name)
    const set = live.console?.monitor.setProbe(probe, on)
    if (set && !set.ok) return set
    const { input } = live.cluster
    const off = input.off.filter((p) => p !== probe)
    return this.save({ ...input, off: on ? off : [...off, probe] }, name)
  }

  /** Removes leftovers of ours by their keys. Failures: NO_SUCH_CLUSTER, NOT_CONNECTED, NOT_TYPED. */
  async clean(name: string, keys: readonly string[], typed: string): Promise<Result<readonly NodeEnd[]>> {
    const live = this.#clusters.get(name)
    if (!live) return noSuch(name)
    return removeLeftovers(live, keys, typed)
  }

  trust(input: TrustInput): Result<undefined> {
    const trusted = trustKey(this.access, input, this.#parts.record)
    if (!trusted.ok) return trusted
    // Whoever waited for it tries again at once.
    for (const { cluster } of this.list) if (cluster.isWanted) void cluster.connect()
    this.changed()
    return trusted
  }

  check(server: ServerInput, signal: AbortSignal | undefined): AsyncGenerator<CheckEvent, void, void> {
    return checkServer(this.access, server, signal)
  }

  async close(): Promise<void> {
    this.asks.close()
    for (const timer of this.#lookAgain.values()) clearTimeout(timer)
    await Promise.all(this.list.map((c) => c.cluster.disconnect()))
    this.access.stop()
    // What is looked up ends before the record that it is looked up in.
    await Promise.allSettled(this.#looks)
  }

  #add(input: ClusterInput): void {
    const live = new LiveConsole(input, {
      access: this.access,
      begin: this.#parts.begin,
      watch: this.#parts.watch,
      rememberedRoles: (host) => this.#roles.of(input.name, host),
      onRoles: (host: string, roles: readonly ServerRole[]) => this.#roles.keep(input.name, host, roles),
      onSource: () => this.#onConsole(live),
      onReady: () => void this.#look(live),
    })
    live.cluster.onChange(() => this.changed())
    this.#clusters.set(input.name, live)
  }

  /** A server answers (again): rules and timers of ours that were left there are looked for. */
  async #look(live: LiveConsole, pauseMs: number = LOOK_AGAIN_MS.least): Promise<void> {
    clearTimeout(this.#lookAgain.get(live))
    this.#lookAgain.delete(live)
    const { console } = live
    const look = lookForLeftovers(live)
    this.#looks.add(look)
    await look.finally(() => this.#looks.delete(look))
    // What one server did not tell, such as one that is booting, it may tell later.
    if (live.leftovers.fault !== '' && live.console === console && console && !this.#lookAgain.has(live)) {
      const again = (): void => void this.#look(live, Math.min(LOOK_AGAIN_MS.most, 2 * pauseMs))
      this.#lookAgain.set(live, setTimeout(again, pauseMs).unref())
    }
    this.changed()
  }

  #onConsole(live: LiveConsole): void {
    const { console } = live
    // Servers that were ready before it began were asked by nobody.
    if (console) void this.#look(live)
    if (console && this.#wanted === live.cluster.name) {
      this.#wanted = undefined
      this.#showConsole(console)
    }
    // It is gone from the screen when it is no longer sampled; one that begins anew comes back.
    if (
      !console &&
      this.onScreen.console !== this.emulator &&
      !this.list.some((c) => c.console === this.onScreen.console)
    ) {
      if (live.cluster.isWanted) this.#wanted = live.cluster.name
      this.#showConsole(this.emulator)
    }
    this.changed()
  }
}
