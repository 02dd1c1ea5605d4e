/** Desktop shell of the host, as its windows see it: capabilities and events. */
import { join } from 'node:path'
import type { MenuModel, PowerEvent, ShellEvent } from '#core/api/shell.ts'
import { fail, type Failure, type Result } from '#core/base/result.ts'
import type { ClusterService } from '../clusters/cluster-service.ts'
import { onPower } from '../clusters/power.ts'
import type { AlertService } from '../incidents/alert-service.ts'
import { AlertNotices } from './alert-notices.ts'
import type { SecretStore } from './secret-store.ts'
import { Saves } from './saves.ts'
import type { Shell } from './shell.ts'

/** Most events queued for a slow window. */
const WAITING = 32
/** Most concurrent event streams; the oldest ends for a new one. */
const FOLLOWING = 16
/** Minimum interval of menu updates, ms. */
const MENU_MS = 250

export const secretsFile = (dataDir: string | undefined): string | undefined =>
  dataDir === undefined ? undefined : join(dataDir, 'secrets.json')

const noShell = (what: string): Failure => ({
  code: 'NO_SHELL',
  what,
  why: 'this console is not the desktop application',
  next: 'The browser does it instead.',
})

export interface ShellServiceParts {
  /** undefined: no shell. */
  readonly shell: Shell | undefined
  readonly clusters: ClusterService
  readonly alerts: AlertService
  readonly secrets: SecretStore
}

export class ShellService {
  readonly secrets: SecretStore
  readonly saves: Saves
  readonly #parts: ShellServiceParts
  readonly #notices: AlertNotices
  readonly #listeners = new Map<(event: ShellEvent) => void, () => void>()
  #menu: { next: MenuModel | null; readonly timer: NodeJS.Timeout } | undefined
  readonly #off: readonly (() => void)[]
  #isFocused = true

  constructor(parts: ShellServiceParts) {
    this.#parts = parts
    this.secrets = parts.secrets
    const { shell, alerts } = parts
    const promptSave =
      shell?.promptSave.bind(shell) ?? (() => Promise.resolve(fail(noShell('The file was not written'))))
    this.saves = new Saves(promptSave)
    this.#notices = new AlertNotices((notice) => shell?.notify(notice))
    this.#off = [
      alerts.onBegan((cluster, entry) => {
        if (shell && !this.#isFocused) this.#notices.notify(cluster, entry)
      }),
      shell?.onMessage((message) => {
        if (message.kind === 'focus') this.#isFocused = message.isFocused
        else if (message.kind === 'command') this.#emit(message)
        else if (message.kind === 'power') this.#power(message.what)
        else this.#chosen(message.id)
      }) ?? (() => undefined),
    ]
  }

  async about() {
    const has = this.#parts.shell !== undefined
    const state = await this.secrets.state()
    return {
      saves: has,
      menu: has,
      notifies: has,
      links: has,
      secrets: { can: state.can, why: state.why, kept: this.secrets.files },
    }
  }

  setMenu(menu: MenuModel): void {
    if (this.#menu) {
      this.#menu.next = menu
      return
    }
    this.#parts.shell?.setMenu(menu)
    const later = (): void => {
      const next = this.#menu?.next
      this.#menu = undefined
      if (next) this.setMenu(next)
    }
    this.#menu = { next: null, timer: setTimeout(later, MENU_MS).unref() }
  }

  /** Failures: NO_SHELL, LINK_REFUSED, SHELL. */
  async openLink(url: string): Promise<Result<undefined>> {
    return this.#parts.shell?.openLink(url) ?? fail(noShell('The page was not opened'))
  }

  /** Shell events from now on, until the window closes the stream. */
  events(signal: AbortSignal | undefined): AsyncGenerator<ShellEvent, void, void> {
    const waiting: ShellEvent[] = []
    let isOver = signal?.aborted ?? false
    let wake = (): void => undefined
    const listen = (event: ShellEvent): void => {
      if (waiting.length >= WAITING) waiting.shift()
      waiting.push(event)
      wake()
    }
    const end = (): void => {
      isOver = true
      this.#listeners.delete(listen)
      wake()
    }
    this.#listeners.set(listen, end)
    const [oldest] = this.#listeners.values()
    if (this.#listeners.size > FOLLOWING) oldest?.()
    signal?.addEventListener('abort', end, { once: true })
    const events = (async function* (): AsyncGenerator<ShellEvent, void, void> {
      try {
        for (;;) {
          for (let event = waiting.shift(); event; event = waiting.shift()) yield event
          if (isOver) return
          await new Promise<void>((resolve) => (wake = resolve))
        }
      } finally {
        end()
      }
    })()
    // A generator waiting for an event would not notice its end before the next one.
    const finish = events.return.bind(events)
    events.return = (value) => {
      end()
      return finish(value)
    }
    return events
  }

  async close(): Promise<void> {
    for (const off of this.#off) off()
    clearTimeout(this.#menu?.timer)
    await this.saves.close()
  }

  #power(what: PowerEvent): void {
    this.#emit({ kind: 'power', what, locked: onPower(this.#parts.clusters, what) })
  }

  #chosen(id: string): void {
    const cluster = this.#notices.clusterOf(id)
    if (cluster === undefined) return
    this.#emit({ kind: 'alert', id, incident: this.#parts.alerts.incidentOf(cluster, id) })
  }

  #emit(event: ShellEvent): void {
    for (const listen of [...this.#listeners.keys()]) listen(event)
  }
}
