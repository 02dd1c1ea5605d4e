/**
 * Clusters known to this window: the newest frame, the selected card, the panel beside the cards, and requests. A
 * refusal is stored per cluster and shown beside its card.
 */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { ClusterCard, ConnectionsFrame, ProbeId, SafeMode, ShownKey } from '#core/api/clusters.ts'
import type { Notice } from '#core/api/frames.ts'
import type { NodeEnd } from '#core/api/rule-edits.ts'
import type { GalleryEntry } from '#core/api/sandbox.ts'
import type { Client } from './client.ts'
import { useConnectionStore } from './connection.ts'
import { noHost, refusal } from './refusal.ts'

/** Panel beside the cards; `name` is empty for a new cluster. */
export interface Panel {
  readonly kind: 'add' | 'edit' | 'test' | 'leftovers'
  readonly name: string
}

export const useConnectionsStore = defineStore('connections', () => {
  const connection = useConnectionStore()
  const frame = shallowRef<ConnectionsFrame | null>(null)
  /** Selected card; one that is gone counts as none. */
  const chosen = ref('')
  const panel = shallowRef<Panel | null>(null)
  /** Cluster whose removal is being confirmed. */
  const removing = ref<string | null>(null)
  /** Cluster for which root writes are being confirmed. */
  const allowingRoot = ref<string | null>(null)
  const notices = shallowRef<ReadonlyMap<string, Notice>>(new Map())
  /** Current requests: `connect altair`. */
  const busy = shallowRef<ReadonlySet<string>>(new Set())

  const clusters = computed(() => frame.value?.clusters ?? [])
  const byName = (name: string): ClusterCard | null => clusters.value.find((c) => c.name === name) ?? null
  const onScreen = computed(() => clusters.value.find((c) => c.onScreen) ?? null)
  const selected = computed(() => byName(chosen.value) ?? onScreen.value ?? clusters.value[0] ?? null)
  const prompts = computed(() => frame.value?.asks ?? [])

  function apply(next: ConnectionsFrame): void {
    frame.value = next
  }
  /** Selects the next or previous card. */
  function step(by: number): void {
    const at = clusters.value.findIndex((c) => c.name === selected.value?.name)
    const next = clusters.value[Math.max(0, Math.min(clusters.value.length - 1, at + by))]
    if (next) chosen.value = next.name
  }
  function setNotice(name: string, notice: Notice | null): void {
    const next = new Map(notices.value)
    if (notice === null) next.delete(name)
    else next.set(name, notice)
    notices.value = next
  }

  /**
   * Runs one request; the same request on the same cluster only once at a time.
   *
   * @param what  failure text.
   */
  async function request(
    name: string,
    verb: string,
    what: string,
    act: (api: Client) => Promise<unknown>,
  ): Promise<boolean> {
    const key = `${verb} ${name}`
    if (busy.value.has(key)) return false
    if (connection.host === null) {
      setNotice(name, noHost(what))
      return false
    }
    busy.value = new Set([...busy.value, key])
    try {
      await act(connection.host.api)
      setNotice(name, null)
      return true
    } catch (error) {
      setNotice(name, refusal(what, error))
      return false
    } finally {
      busy.value = new Set([...busy.value].filter((other) => other !== key))
    }
  }
  const isBusy = (verb: string, name: string): boolean => busy.value.has(`${verb} ${name}`)

  const connect = (name: string): Promise<boolean> =>
    request(name, 'connect', `${name} was not connected`, (api) => api.clusters.connect({ name }))
  const disconnect = (name: string): Promise<boolean> =>
    request(name, 'disconnect', `${name} was not disconnected`, (api) => api.clusters.disconnect({ name }))
  /** Switches to the cluster, connecting it first if necessary. */
  async function show(card: ClusterCard): Promise<boolean> {
    const { name, kind, state } = card
    if (kind === 'LIVE' && (state === 'idle' || state === 'failed') && !(await connect(name))) return false
    return request(name, 'show', `Could not switch to ${name}`, (api) =>
      api.clusters.show({ name: kind === 'EMULATED' ? null : name }),
    )
  }
  /**
   * Plays a scenario on the emulator from its beginning, and switches to it.
   *
   * @returns  the refusal; null when it plays.
   */
  async function play(entry: GalleryEntry): Promise<Notice | null> {
    const what = `${entry.title} was not started`
    if (connection.host === null) return noHost(what)
    if (isBusy('play', '')) return null
    busy.value = new Set([...busy.value, 'play '])
    try {
      await connection.host.api.clusters.play({ scenario: entry.id })
      return null
    } catch (error) {
      return refusal(what, error)
    } finally {
      busy.value = new Set([...busy.value].filter((other) => other !== 'play '))
    }
  }
  const setProbe = (name: string, probe: ProbeId, on: boolean): Promise<boolean> =>
    request(name, `probe ${probe}`, `The probe ${probe} was not changed`, (api) =>
      api.clusters.setProbe({ name, probe, on }),
    )
  const setSafeMode = (name: string, safeMode: SafeMode): Promise<boolean> =>
    request(name, 'safe mode', `The safe mode of ${name} was not changed`, (api) =>
      api.clusters.setSafeMode({ name, safeMode }),
    )
  const setMaxRate = (name: string, maxRate: number | null): Promise<boolean> =>
    request(name, 'token rate', `The token rate of ${name} was not changed`, (api) =>
      api.clusters.setMaxRate({ name, maxRate }),
    )
  const setAllowRoot = (name: string, allow: boolean, typed = ''): Promise<boolean> =>
    request(name, 'root', `The root login setting of ${name} was not changed`, (api) =>
      api.clusters.setAllowRoot({ name, allow, typed }),
    )
  async function remove(name: string): Promise<boolean> {
    const done = await request(name, 'remove', `${name} was not removed`, (api) => api.clusters.remove({ name }))
    if (done && panel.value?.name === name) panel.value = null
    return done
  }
  /** Removes leftovers. @returns results by server; null if nothing was sent */
  async function clean(name: string, keys: string[], typed: string): Promise<readonly NodeEnd[] | null> {
    let nodes: readonly NodeEnd[] | null = null
    await request(name, 'clean', 'Nothing was removed', async (api) => {
      nodes = (await api.clusters.clean({ name, keys, typed })).nodes
    })
    return nodes
  }
  /** Trusts a key. @returns the refusal; null when it is in the trust store */
  async function trust(key: ShownKey, compared: boolean): Promise<Notice | null> {
    const what = 'The key was not trusted'
    if (connection.host === null) return noHost(what)
    const { host, port, type, fingerprint } = key
    try {
      await connection.host.api.clusters.trust({ host, port, type, fingerprint, compared })
      return null
    } catch (error) {
      return refusal(what, error)
    }
  }
  /** Answers a request; null: skip. The passphrase is not stored here. */
  async function answer(id: string, passphrase: string | null, remember = false): Promise<Notice | null> {
    const what = 'The passphrase was not accepted'
    if (connection.host === null) return noHost(what)
    try {
      await connection.host.api.clusters.passphrase({ id, passphrase, ...(remember ? { remember } : {}) })
      return null
    } catch (error) {
      return refusal(what, error)
    }
  }
  const open = (kind: Panel['kind'], name = ''): void => {
    if (name !== '') chosen.value = name
    panel.value = { kind, name }
  }

  return {
    frame,
    chosen,
    panel,
    removing,
    allowingRoot,
    notices,
    clusters,
    onScreen,
    selected,
    prompts,
    apply,
    byName,
    step,
    setNotice,
    isBusy,
    open,
    connect,
    disconnect,
    show,
    play,
    setProbe,
    setSafeMode,
    setMaxRate,
    setAllowRoot,
    remove,
    clean,
    trust,
    answer,
  }
})
