/** What the window looks at: the status stream's newest frame, and the verbs that change the source. */
import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import type { AdaptbfChange, AdaptbfOptions } from '#core/api/adaptbf.ts'
import type { Notice, StatusFrame } from '#core/api/frames.ts'
import type { Client } from './client.ts'
import { useConnectionStore } from './connection.ts'
import { refusal } from './refusal.ts'

type Mode = StatusFrame['mode']
type Controller = StatusFrame['controller']

export const modeNames: Record<Mode, string> = { observe: 'Observe', advise: 'Advise', enforce: 'Enforce' }
export const controllerNames: Record<Controller, string> = { adaptbf: 'AdapTBF', static: 'Static', none: 'None' }
/** Emulated seconds per second that can be chosen; 0 stands still. */
export const speeds = [0, 1, 2, 4, 16] as const

type Change = (frame: StatusFrame) => Partial<StatusFrame>
/** Longest that a frame from before a verb may still be on its way. */
const UNDER_WAY_MS = 600

export const useSourceStore = defineStore('source', () => {
  const connection = useConnectionStore()
  const frame = shallowRef<StatusFrame | null>(null)
  /** Wall instant at which `frame` came. */
  const receivedMs = ref(0)
  /** Refusals of this window's own verbs, newest first; dismissed by the operator. */
  const refusals = shallowRef<readonly Notice[]>([])
  const dismissed = shallowRef<ReadonlySet<string>>(new Set())

  const NOTHING_AGREED = { change: (): Partial<StatusFrame> => ({}), untilMs: 0 }
  let agreed: { change: Change; untilMs: number } = NOTHING_AGREED
  let identity = ''
  /** How often another source has come on screen: what was shown and chosen on one says nothing of the next. */
  const switches = ref(0)

  function apply(next: StatusFrame): void {
    receivedMs.value = Date.now()
    const name = `${next.source.kind} ${next.source.cluster}`
    if (identity !== '' && name !== identity) {
      agreed = NOTHING_AGREED
      refusals.value = []
      dismissed.value = new Set()
      switches.value++
    }
    identity = name
    frame.value = receivedMs.value < agreed.untilMs ? { ...next, ...agreed.change(next) } : next
  }
  /** What the host has agreed to holds at once: frames under way are older, and a source that stands still sends none. */
  function agree(change: Change): void {
    agreed = { change, untilMs: Date.now() + UNDER_WAY_MS }
    if (frame.value) frame.value = { ...frame.value, ...change(frame.value) }
  }

  async function ask(what: string, verb: (client: Client) => Promise<void>, then: Change): Promise<void> {
    try {
      if (connection.host === null) throw new Error('The host is not connected')
      await verb(connection.host.api)
      agree(then)
    } catch (error) {
      refusals.value = [refusal(what, error), ...refusals.value].slice(0, 3)
    }
  }
  const setSpeed = (speed: number): Promise<void> =>
    ask(
      'The speed was not changed',
      (client) => client.source.setSpeed({ speed }),
      ({ clock }) => ({ clock: { ...clock, speed } }),
    )
  const setMode = (mode: Mode): Promise<void> =>
    ask(
      'The mode was not changed',
      (client) => client.source.setMode({ mode }),
      () => ({ mode }),
    )
  const setController = (controller: Controller): Promise<void> =>
    ask(
      'The controller was not changed',
      (client) => client.source.setController({ controller }),
      () => ({ controller }),
    )

  const setControllerOptions = (change: AdaptbfChange): Promise<void> =>
    ask(
      'The settings of AdapTBF were not changed',
      (client) => client.source.setControllerOptions(change),
      ({ adaptbf }) => ({
        adaptbf: { ...adaptbf, options: { ...adaptbf.options, ...(change as Partial<AdaptbfOptions>) } },
      }),
    )

  /** The host has unlocked enforce mode until then. */
  const unlocked = (untilMs: number): void => agree(() => ({ unlockedUntilMs: untilMs }))
  const lock = (): Promise<void> =>
    ask(
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
  /** A source that is not the live cluster carries the hatched frame. */
  const isHatched = computed(() => frame.value !== null && frame.value.source.kind !== 'LIVE')
  return {
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
    unlocked,
    lock,
    dismiss,
  }
})
