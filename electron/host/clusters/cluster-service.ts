/**
 * Clusters known to this console: saved, connected, selected as active source. The emulator always exists; it is paused
 * while another source is active.
 */
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import * as z from 'zod'
import {
  clusterInput,
  type CheckEvent,
  type ClusterInput,
  type ProbeId,
  type SafeMode,
  type ServerInput,
  type ServerRole,
  type sshAliases,
  type CheckStep,
  type PendingPassphrase,
} from '#core/api/clusters.ts'
import type { NodeEnd } from '#core/api/rule-edits.ts'
import { fail, ok, type Result } from '#core/base/result.ts'
import { isControllerRule } from '#core/controllers/registry.ts'
import { readClusters, writeClusters } from '../../cluster/live/cluster-file.ts'
import type { SshAccess, SshAccessOptions } from '../../cluster/live/ssh-access.ts'
import type { Changing } from '../frame-pump.ts'
import type { Console } from '../console.ts'
import type { ActiveView } from '../active-view.ts'
import type { Demo } from './demo.ts'
import { LiveConsole } from './live-console.ts'
import { openAccess, openRoles } from '../sources/data-folder.ts'
import type { RoleStore } from '../sources/role-store.ts'
import type { SampledClusterParts } from '../sources/sampled-cluster.ts'
import type { SecretStore } from '../shell/secret-store.ts'
import { readConfig } from '../../ssh/config-file.ts'
import { LiveServer } from '../../cluster/live/live-server.ts'
import { cleanLeftovers, findLeftovers, type LeftoverParts } from '../../enforce/leftovers.ts'
import { unitsOn } from '../sources/stop.ts'
import type { PromptPassphrase } from '../../ssh/private-key.ts'
import { serverCard, shownKeyOf } from './server-card.ts'

/** Time after which an unanswered prompt fails, so that a session does not wait forever, ms. */
const LATE_MS = 300_000
const WAITING = 64

/**
 * Prompts for passphrases of private keys at the window. Answers are not kept here; on request the system keychain
 * keeps them, and a key that it opens is not prompted for again.
 */
export class PassphrasePrompts {
  readonly #open = new Map<
    string,
    { readonly ask: PendingPassphrase; readonly answer: (bytes: Buffer | undefined) => void }
  >()
  readonly #changed: () => void
  readonly #secrets: SecretStore | undefined

  constructor(changed: () => void, secrets?: SecretStore) {
    this.#changed = changed
    this.#secrets = secrets
  }

  get list(): PendingPassphrase[] {
    return [...this.#open.values()].map((o) => o.ask)
  }

  readonly passphrase: PromptPassphrase = async ({ file, attempt }) => {
    // A kept passphrase that failed is deleted.
    if (attempt > 1) this.#secrets?.forget(file)
    const stored = attempt === 1 ? await this.#secrets?.of(file) : undefined
    if (stored) return stored
    if (this.#open.size >= WAITING) return undefined
    const id = randomBytes(6).toString('hex')
    return new Promise((resolve) => {
      const answer = (bytes: Buffer | undefined): void => {
        clearTimeout(late)
        this.#open.delete(id)
        resolve(bytes)
        this.#changed()
      }
      const late = setTimeout(() => answer(undefined), LATE_MS)
      late.unref()
      this.#open.set(id, { ask: { id, file, host: '', attempt }, answer })
      this.#changed()
    })
  }

  /** Failures: NO_SUCH_ASK; those of the keychain if the passphrase is to be kept; the prompt then stays open. */
  async answer(id: string, passphrase: string | null, remember = false): Promise<Result<undefined>> {
    const ask = this.#open.get(id)?.ask
    if (ask && remember && passphrase !== null && passphrase !== '') {
      const saved = (await this.#secrets?.keep(ask.file, passphrase)) ?? ok(undefined)
      if (!saved.ok) return saved
    }
    const open = this.#open.get(id)
    if (!open) {
      return fail({
        code: 'NO_SUCH_ASK',
        what: 'The passphrase was not used',
        why: 'the prompt is no longer open',
        next: 'Connect again; the prompt opens when a server needs the key.',
      })
    }
    open.answer(passphrase === null ? undefined : Buffer.from(passphrase, 'utf8'))
    return ok(undefined)
  }

  /** Cancels all prompts. */
  close(): void {
    for (const o of [...this.#open.values()]) o.answer(undefined)
  }
}

/**
 * Leftover rules and timers of Sluice on the servers of a live cluster, from an earlier start or from another process
 * that has ended.
 */
function partsOf(live: LiveConsole, console: Console): LeftoverParts {
  const { monitor, ruleService, store } = console
  const silent = new Set(console.facts.silent?.() ?? [])
  const nodes = monitor.source.nodes.filter((n) => !silent.has(n.host))
  const isControlling = monitor.loop.mode === 'enforce'
  return {
    cluster: live.cluster.name,
    nodes,
    store,
    // A controller in enforce mode owns every rule of its naming scheme; otherwise such rules are leftovers.
    isHeld: (spot) => ruleService.rules.find(spot) !== undefined || (isControlling && isControllerRule(spot.name)),
    heldUnits: new Set(nodes.flatMap((n) => unitsOn(console, n.host))),
    nowMs: () => monitor.nowMs(),
  }
}

/** Checks every server that answers; the result is in `live.leftovers`. */
export async function lookForLeftovers(live: LiveConsole): Promise<void> {
  const { console } = live
  if (!console) return
  const found = await findLeftovers(partsOf(live, console))
  if (live.console === console) live.leftovers = found
}

/** Removes leftovers. Failures: NOT_CONNECTED, NOT_TYPED, READ_ONLY, and those of the enforcement store. */
async function removeLeftovers(
  live: LiveConsole,
  keys: readonly string[],
  typed: string,
): Promise<Result<readonly NodeEnd[]>> {
  const { console } = live
  const { name } = live.cluster
  const refuse = (code: string, why: string, next: string): Result<readonly NodeEnd[]> =>
    fail({ code, what: 'Nothing was removed', why, unaffected: 'Rules on servers are not changed.', next })
  if (!console) return refuse('NOT_CONNECTED', `${name} is not connected`, 'Connect it first.')
  const refused = console.writeProtection?.mayRemove()
  if (refused) return fail(refused)
  if (typed !== name) return refuse('NOT_TYPED', 'the typed name does not match', `Type ${name}.`)
  const ends = await cleanLeftovers({ ...partsOf(live, console), audit: console.monitor.audit }, keys)
  await lookForLeftovers(live)
  return ok(ends)
}

/**
 * Read-only checklist of one server, reported step by step: for a server about to be added, and for `Test`. Ends when
 * the list is done, when it needs an operator's approval, or when the caller stops reading.
 */
async function* checkServer(
  access: SshAccess,
  input: ServerInput,
  signal: AbortSignal | undefined,
): AsyncGenerator<CheckEvent, void, void> {
  const server = new LiveServer(input, access)
  let isDone = false
  let wake: (() => void) | undefined
  const off = server.onChange(() => wake?.())
  const abort = (): void => wake?.()
  signal?.addEventListener('abort', abort)
  const done = (server.state.kind === 'connected' ? server.find() : server.bring()).then(() => {
    isDone = true
    wake?.()
  })
  let reported = ''
  let key = ''
  try {
    for (;;) {
      const steps: CheckStep[] = [...server.steps]
      const text = JSON.stringify(steps)
      if (text !== reported) {
        reported = text
        yield { kind: 'steps', host: server.host, steps }
      }
      const shown = shownKeyOf(server)
      if (shown && shown.fingerprint !== key) {
        key = shown.fingerprint
        yield { kind: 'key', host: server.host, key: shown }
      }
      if (isDone || signal?.aborted) break
      await new Promise<void>((resolve) => (wake = resolve))
      wake = undefined
    }
    if (signal?.aborted) return
    await done
    yield { kind: 'found', server: serverCard(server, { atMs: Date.now() }) }
    yield { kind: 'end', ok: server.isReady }
  } finally {
    off()
    signal?.removeEventListener('abort', abort)
    server.forget()
  }
}

interface TrustInput {
  readonly host: string
  readonly port: number
  readonly type: string
  readonly fingerprint: string
  readonly compared: boolean
}

/**
 * Approves a host key: only one that the server presented to this console, and that no known key contradicts. Recorded
 * before it takes effect. Failures: NO_TRUST_STORE, KEY_NOT_SHOWN, NOT_ON_RECORD, and those of the store.
 */
function trustKey(
  access: SshAccess,
  key: TrustInput,
  record: (server: string, text: string) => Result<undefined>,
): Result<undefined> {
  const refuse = (code: string, why: string, next: string): Result<undefined> =>
    fail({ code, what: `The key of ${key.host} was not trusted`, why, unaffected: 'Nothing was sent to it.', next })
  if (!access.store) return refuse('NO_TRUST_STORE', 'this console has no data folder', 'Start it with a data folder.')
  if (!access.openKey(key.host, key.port, key.type, key.fingerprint)) {
    return refuse(
      'KEY_NOT_SHOWN',
      'the server did not present this key, or it may not be approved here',
      'Connect again and compare the presented key.',
    )
  }
  const how = key.compared ? 'after comparing it' : 'without comparing it'
  const text = `trusted ${key.type} ${key.fingerprint} of ${key.host}:${key.port} ${how}`
  const recorded = record(key.host, text)
  if (!recorded.ok) return recorded
  return access.store.trust(key.host, key.port, key.type, key.fingerprint, Date.now())
}

const MOST = 500

/** Names in ~/.ssh/config that stand for one host, for the form that adds a server. */
function aliasesOf(access: SshAccess): z.infer<typeof sshAliases> {
  const { file, home } = access.config
  if (file === undefined) return { file: '', fault: '', names: [] }
  const names = new Set<string>()
  let fault = ''
  const note = (ignored: { setting: string; where: string; why: string }): void => {
    if (ignored.setting === 'file') fault = `${ignored.where}: ${ignored.why}`
  }
  readConfig(file, { home, note }, (setting) => {
    if (setting.keyword !== 'host') return false
    for (const name of setting.values) if (!/[*?!]/.test(name) && names.size < MOST) names.add(name)
    return false
  })
  return {
    file,
    fault,
    names: [...names].flatMap((name) => {
      const at = access.resolve({ name: '', host: name, port: null, user: '', identity: '', jump: null, roles: [] })
      if (!at.ok) return []
      const { user, host, port } = at.value.endpoint
      return [{ name, address: `${user}@${host}${port === 22 ? '' : `:${port}`}` }]
    }),
  }
}

const CLUSTERS = 64
/** Retry interval for failed leftover checks; it doubles, ms. */
const LOOK_AGAIN_MS = { least: 2000, most: 60_000 } as const

export interface ClusterServiceParts {
  readonly onScreen: ActiveView
  readonly demo: Demo
  /** Folder of clusters and trusted keys; undefined: in memory only. */
  readonly dataDir: string | undefined
  /** Clusters of this run only, not saved (`--config`). */
  readonly clusters?: readonly ClusterInput[] | undefined
  readonly ssh?: SshAccessOptions | undefined
  /** Passphrases kept by the system keychain. */
  readonly secrets?: SecretStore | undefined
  /** Creates the console of the servers found. */
  readonly begin: SampledClusterParts<Console>['begin']
  /** Records an operator's choice in the audit. */
  readonly record: (server: string, text: string) => Result<undefined>
  /** Watches a cluster while it is sampled; returns the stop function. */
  readonly watch?: SampledClusterParts<Console>['watch']
}

const noSuch = (name: string): Result<never> =>
  fail({ code: 'NO_SUCH_CLUSTER', what: `There is no cluster called ${name}`, next: 'Choose one that is listed.' })

export class ClusterService implements Changing {
  readonly access: SshAccess
  readonly asks: PassphrasePrompts
  /** Reason why clusters are not saved, or could not be read. */
  fault: string = ''
  readonly onScreen: ActiveView
  readonly #parts: ClusterServiceParts
  readonly #roles: RoleStore
  readonly #clusters = new Map<string, LiveConsole>()
  readonly #written = new Set<string>()
  /** Saved clusters hidden by clusters of this run with the same name. */
  readonly #hidden: ClusterInput[] = []
  readonly #listeners = new Set<() => void>()
  /** Leftover checks in progress. */
  readonly #looks = new Set<Promise<void>>()
  readonly #lookAgain = new Map<LiveConsole, NodeJS.Timeout>()
  /** Name of the cluster to activate as soon as it has a console. */
  #wanted: string | undefined

  constructor(parts: ClusterServiceParts) {
    this.#parts = parts
    this.onScreen = parts.onScreen
    this.asks = new PassphrasePrompts(() => this.changed(), parts.secrets)
    const { dataDir } = parts
    this.access = openAccess(dataDir, { ask: this.asks.passphrase, ...parts.ssh })
    this.#roles = openRoles(dataDir)
    const saved = this.#file === undefined ? ok([]) : readClusters(this.#file, true)
    if (!saved.ok) this.fault = `${saved.error.what}: ${saved.error.why ?? ''}`
    for (const input of saved.ok ? saved.value : []) {
      this.#add(input)
      this.#written.add(input.name)
    }
    for (const input of parts.clusters ?? []) {
      // For this run it replaces the saved cluster of that name, whose file entry is unchanged.
      if (this.#written.delete(input.name))
        this.#hidden.push(...(saved.ok ? saved.value : []).filter((k) => k.name === input.name))
      this.#add(input)
    }
    this.onScreen.onChange(() => this.changed())
  }

  get #file(): string | undefined {
    return this.#parts.dataDir === undefined ? undefined : join(this.#parts.dataDir, 'clusters.yaml')
  }

  /** Console of the demo. */
  get emulator(): Console {
    return this.#parts.demo.console
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
    // Rules of this console are removed while it still may.
    const isClosed = input.safeMode === 'read-only' && before?.cluster.input.safeMode !== 'read-only'
    const wasRoot = before?.cluster.input.allowRoot ?? false
    if (isClosed || (wasRoot && !input.allowRoot)) await before?.stopAndRelease()
    const refuse = (code: string, why: string, next: string): Result<undefined> =>
      fail({
        code,
        what: `${input.name} was not saved`,
        why,
        unaffected: 'Existing clusters are not changed.',
        next,
      })
    const isNew = !this.#clusters.has(replaces ?? input.name)
    if (
      input.name !== replaces &&
      (this.#clusters.has(input.name) || input.name === this.emulator.monitor.source.cluster)
    ) {
      return refuse('CLUSTER_NAME', 'a cluster of that name exists', 'Give it another name.')
    }
    if (replaces !== undefined && isNew) return noSuch(replaces)
    if (isNew && this.#clusters.size >= CLUSTERS) return refuse('CLUSTERS_FULL', `there are ${CLUSTERS}`, 'Remove one.')
    const old = replaces === undefined ? undefined : this.#clusters.get(replaces)
    if (input.allowRoot !== wasRoot) {
      const recorded = this.#parts.record(input.name, `root login ${input.allowRoot ? 'may write' : 'may not write'}`)
      // A choice that restricts writing applies even if it cannot be recorded.
      if (!recorded.ok && input.allowRoot) return recorded
    }
    // A cluster of this run only is changed for this run only.
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
    const inUse = this.list.filter((c) => c !== live && this.#written.has(c.cluster.name)).map((c) => c.cluster.input)
    const written = this.#file === undefined ? ok(undefined) : writeClusters(this.#file, [...this.#hidden, ...inUse])
    if (!written.ok) return written
    this.#clusters.delete(name)
    this.#written.delete(name)
    await live.cluster.disconnect()
    live.cluster.forget()
    this.changed()
    return ok(undefined)
  }

  /** Begins to connect; the cards show the result. */
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

  /** Activates a cluster, or the emulator (null). One that is still connecting is activated once it has begun. */
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
        unaffected: 'The current view is not changed.',
        next: 'Connect it first.',
      })
    }
    return ok(undefined)
  }

  /** Plays a scenario on the emulator, and activates it. Failures: those of `Demo.play`. */
  play(text: string): Promise<Result<undefined>> {
    return this.#parts.demo.play(text, {
      isTaken: (cluster) => this.#clusters.has(cluster),
      show: (console) => {
        this.#wanted = undefined
        this.#speed = 1
        this.#showConsole(console)
      },
    })
  }

  #showConsole(console: Console): void {
    const { emulator } = this
    // The emulator is paused while another source is active.
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
    live.console?.writeProtection?.lock()
    return this.save({ ...live.cluster.input, safeMode }, name)
  }

  /** Sets the token rate T of the OSTs; null: unknown. The cluster is connected again: controllers start from T. */
  setMaxRate(name: string, maxRate: number | null): Promise<Result<undefined>> {
    const live = this.#clusters.get(name)
    if (!live) return Promise.resolve(noSuch(name))
    return this.save({ ...live.cluster.input, maxRate }, name)
  }

  /**
   * Allows or forbids writing by root logins on a cluster. Failures: NO_SUCH_CLUSTER; to allow it NOT_TYPED,
   * NOT_ON_RECORD; those of saving.
   */
  setAllowRoot(name: string, allow: boolean, typed: string): Promise<Result<undefined>> {
    const live = this.#clusters.get(name)
    if (!live) return Promise.resolve(noSuch(name))
    if (allow && typed !== name) {
      return Promise.resolve(
        fail({
          code: 'NOT_TYPED',
          what: `Root may not write to ${name}`,
          why: 'the typed name does not match',
          unaffected: 'Monitoring continues.',
          next: `Type ${name}.`,
        }),
      )
    }
    return this.save({ ...live.cluster.input, allowRoot: allow }, name)
  }

  /** Switches a probe on or off, now and at the next start. */
  async setProbe(name: string, probe: ProbeId, on: boolean): Promise<Result<undefined>> {
    const live = this.#clusters.get(name)
    if (!live) return noSuch(name)
    const set = live.console?.monitor.setProbe(probe, on)
    if (set && !set.ok) return set
    const { input } = live.cluster
    const off = input.off.filter((p) => p !== probe)
    return this.save({ ...input, off: on ? off : [...off, probe] }, name)
  }

  /** Removes leftovers by their keys. Failures: NO_SUCH_CLUSTER, NOT_CONNECTED, NOT_TYPED. */
  async clean(name: string, keys: readonly string[], typed: string): Promise<Result<readonly NodeEnd[]>> {
    const live = this.#clusters.get(name)
    if (!live) return noSuch(name)
    return removeLeftovers(live, keys, typed)
  }

  trust(input: TrustInput): Result<undefined> {
    const trusted = trustKey(this.access, input, this.#parts.record)
    if (!trusted.ok) return trusted
    // Clusters that waited for it retry at once.
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
    // Leftover checks end before the store that they use.
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

  /** Checks a server for leftover rules and timers when it answers (again). */
  async #look(live: LiveConsole, pauseMs: number = LOOK_AGAIN_MS.least): Promise<void> {
    clearTimeout(this.#lookAgain.get(live))
    this.#lookAgain.delete(live)
    const { console } = live
    const look = lookForLeftovers(live)
    this.#looks.add(look)
    await look.finally(() => this.#looks.delete(look))
    // A server that did not report, for example while booting, may do so later.
    if (live.leftovers.fault !== '' && live.console === console && console && !this.#lookAgain.has(live)) {
      const again = (): void => void this.#look(live, Math.min(LOOK_AGAIN_MS.most, 2 * pauseMs))
      this.#lookAgain.set(live, setTimeout(again, pauseMs).unref())
    }
    this.changed()
  }

  #onConsole(live: LiveConsole): void {
    const { console } = live
    // Servers that were ready before the console existed have not been checked.
    if (console) void this.#look(live)
    if (console && this.#wanted === live.cluster.name) {
      this.#wanted = undefined
      this.#showConsole(console)
    }
    // Deactivated when it is no longer sampled; activated again when it begins again.
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
