/** Source of the window: the newest frame of the status stream, and requests that change the source. */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { AdaptbfChange, AdaptbfOptions } from '#core/api/adaptbf.ts'
import type { Notice, StatusFrame } from '#core/api/frames.ts'
import type { Playback } from '#core/api/history.ts'
import type { Client } from './client.ts'
import { useConnectionStore } from './connection.ts'
import { refusal } from './refusal.ts'

type Mode = StatusFrame['mode']
type Controller = StatusFrame['controller']

export const modeNames: Record<Mode, string> = { observe: 'Observe', advise: 'Advise', enforce: 'Enforce' }
/** Selectable emulation speeds, emulated seconds per second; 0 is paused. */
export const speeds = [0, 1, 2, 4, 16] as const

/** Name of the active source. */
export interface Naming {
  readonly kind: StatusFrame['source']['kind']
  readonly cluster: string
  readonly playback: Playback | null
}
const namingOf = ({ source, playback }: StatusFrame): Naming => ({
  kind: source.kind,
  cluster: source.cluster,
  playback: playback ?? null,
})

type Change = (frame: StatusFrame) => Partial<StatusFrame>
const OFF_WHY = 'a recording is open'
const OFF_NEXT = 'Go back to live first.'
const ALL_OFF = 'Unavailable while a recording is open. Go back to live first.'
/** Longest delay of a frame from before a request, ms. */
const UNDER_WAY_MS = 600

export const useSourceStore = defineStore('source', () => {
  const connection = useConnectionStore()
  const frame = shallowRef<StatusFrame | null>(null)
  /** Wall time at which `frame` arrived. */
  const receivedMs = ref(0)
  /** Refusals of this window's requests, newest first; dismissed by the operator. */
  const refusals = shallowRef<readonly Notice[]>([])
  const dismissed = shallowRef<ReadonlySet<string>>(new Set())

  const NOTHING_AGREED = { change: (): Partial<StatusFrame> => ({}), untilMs: 0 }
  let agreed: { change: Change; untilMs: number } = NOTHING_AGREED
  /** Origin of the source's own frames; a playback of it is not another source. */
  let origin: { kind: Naming['kind'] | ''; cluster: string } = { kind: '', cluster: '' }
  /** Source running behind a playback; empty if the window has not seen it. */
  const behind = ref('')
  /** True if that source is an emulator. */
  const isBehindEmulated = ref(false)
  /** True if it is an emulator, also while it is played back. */
  const hasSpeed = ref(false)
  let identity = ''
  /** Number of changes of source: displayed and selected data of one do not apply to the next. */
  const switches = ref(0)
  /** Number of changes of source or playback: samples are renumbered. */
  const turn = ref(0)
  /** Incremented to request the status again at once. */
  const looks = ref(0)
  /** Number of mounted views, which report when they have switched. */
  const viewers = ref(0)
  /** Source that the view still shows, named and dimmed, until it has a frame of the next one. */
  const before = shallowRef<Naming | null>(null)
  const naming = computed(() => before.value ?? (frame.value ? namingOf(frame.value) : null))
  const isTurning = computed(() => before.value !== null)

  function apply(status: StatusFrame): void {
    receivedMs.value = Date.now()
    // A bundle has the color of the cluster that it was exported from.
    const env = status.playback?.bundle?.env
    const next = env === undefined ? status : { ...status, source: { ...status.source, env } }
    const { kind, cluster } = next.source
    const { playback } = next
    const name = `${kind} ${cluster} ${playback ? `${playback.file} ${playback.tier} ${playback.fromMs}` : ''}`
    const isOther =
      identity !== '' &&
      (cluster !== origin.cluster || (kind !== 'RECORDED' && origin.kind !== '' && kind !== origin.kind))
    const hasTurned = next.turn === undefined ? name !== identity : next.turn !== turn.value
    if (identity !== '' && (isOther || hasTurned)) {
      agreed = NOTHING_AGREED
      if (isOther) {
        refusals.value = []
        dismissed.value = new Set()
        before.value = null
        switches.value++
      } else if (viewers.value > 0) before.value ??= naming.value
      turn.value = next.turn ?? turn.value + 1
    } else if (next.turn !== undefined) turn.value = next.turn
    identity = name
    origin = { kind: kind === 'RECORDED' ? (isOther ? '' : origin.kind) : kind, cluster }
    if (kind !== 'RECORDED') {
      behind.value = cluster
      isBehindEmulated.value = kind === 'EMULATED'
    }
    hasSpeed.value = origin.kind === 'EMULATED'
    frame.value = receivedMs.value < agreed.untilMs ? { ...next, ...agreed.change(next) } : next
  }
  /** Called by a view once it shows a frame of the current source. */
  const turned = (): void => {
    before.value = null
  }
  const look = (): void => void looks.value++
  /** Applies a change accepted by the host at once: frames on the way are older, and a paused source sends none. */
  function agree(change: Change): void {
    agreed = { change, untilMs: Date.now() + UNDER_WAY_MS }
    if (frame.value) frame.value = { ...frame.value, ...change(frame.value) }
  }

  /** Reason why nothing can be changed now; null if it can. */
  const off = computed(() => (frame.value?.source.kind === 'RECORDED' ? ALL_OFF : null))
  /** The same as a notice for a request that is not sent; null if it may be. */
  const refused = (what: string): Notice | null =>
    off.value === null ? null : { code: 'RECORDED', what, why: OFF_WHY, next: OFF_NEXT }
  /** Shows a refusal above the view. */
  function notify(notice: Notice): void {
    refusals.value = [notice, ...refusals.value.filter((n) => textOf(n) !== textOf(notice))].slice(0, 3)
  }

  async function request(what: string, verb: (client: Client) => Promise<void>, then: Change): Promise<void> {
    const not = refused(what)
    if (not) return notify(not)
    try {
      if (connection.host === null) throw new Error('The Sluice host is not connected')
      await verb(connection.host.api)
      agree(then)
    } catch (error) {
      notify(refusal(what, error))
    }
  }
  const setSpeed = (speed: number): Promise<void> =>
    request(
      'The speed was not changed',
      (client) => client.source.setSpeed({ speed }),
      ({ clock }) => ({ clock: { ...clock, speed } }),
    )
  /** @param takeOver  ends the leases of another console first. */
  const setMode = (mode: Mode, takeOver = false): Promise<void> =>
    request(
      'The mode was not changed',
      (client) => client.source.setMode(takeOver ? { mode, takeOver } : { mode }),
      () => ({ mode }),
    )
  const setController = (controller: Controller): Promise<void> =>
    request(
      'The controller was not changed',
      (client) => client.source.setController({ controller }),
      () => ({ controller }),
    )

  const setControllerOptions = (change: AdaptbfChange): Promise<void> =>
    request(
      'The settings of AdapTBF were not changed',
      (client) => client.source.setControllerOptions(change),
      ({ adaptbf }) => ({
        adaptbf: { ...adaptbf, options: { ...adaptbf.options, ...(change as Partial<AdaptbfOptions>) } },
      }),
    )

  /** Ends clearing of job_stats after each period; starting it is confirmed by the name of the cluster. */
  const endClearing = (): Promise<void> =>
    request(
      'Clearing of job statistics was not ended',
      (client) => client.source.endClearing(),
      ({ adaptbf }) => ({ adaptbf: { ...adaptbf, clearing: { ...adaptbf.clearing, isOn: false } } }),
    )

  /** Records the unlock granted by the host, until `untilMs`. */
  const unlocked = (untilMs: number): void => agree(() => ({ unlockedUntilMs: untilMs }))
  const lock = (): Promise<void> =>
    request(
      'The cluster was not locked',
      (client) => client.source.lock(),
      () => ({ unlockedUntilMs: null }),
    )

  const textOf = (n: Notice): string => `${n.code} ${n.what} ${n.why ?? ''}`
  const notices = computed(() => [
    ...refusals.value,
    ...(frame.value?.notices ?? []).filter((n) => !dismissed.value.has(textOf(n))),
  ])
  function dismiss(notice: Notice): void {
    refusals.value = refusals.value.filter((n) => n !== notice)
    dismissed.value = new Set([...dismissed.value, textOf(notice)])
  }

  const isEmulated = computed(() => frame.value?.source.kind === 'EMULATED')
  /** A source other than the live cluster has a hatched frame. */
  const isHatched = computed(() => naming.value !== null && naming.value.kind !== 'LIVE')
  return {
    turn,
    turned,
    isTurning,
    naming,
    viewers,
    hasSpeed,
    behind,
    isBehindEmulated,
    looks,
    look,
    off,
    refused,
    notify,
    frame,
    receivedMs,
    switches,
    notices,
    isEmulated,
    isHatched,
    apply,
    setSpeed,
    setMode,
    setController,
    setControllerOptions,
    endClearing,
    unlocked,
    lock,
    dismiss,
  }
})
