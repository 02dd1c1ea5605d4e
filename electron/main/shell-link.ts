/** The host's side of main's desktop services: requests answered by number, and main's events. */
import { fail, ok, type Failure, type Result } from '#core/base/result.ts'
import type { Shell, ShellMessage } from '#electron/host/shell/shell.ts'
import { answers, type Answers, type FromHost, type HostRequest, type ToHost } from './host-messages.ts'

/** Most pending requests; each may wait for the user. */
const WAITING = 64

const noAnswer = (why: string): Failure => ({ code: 'SHELL', what: 'The desktop request failed', why })

export interface ShellLink {
  readonly shell: Shell
  /** Handles a message of main. */
  readonly hear: (message: ToHost) => void
}

/** @param post  sends a message to main. */
export function shellLink(post: (message: FromHost) => void): ShellLink {
  const waiting = new Map<number, (answer: { failure: Failure | null; value?: unknown }) => void>()
  const listeners = new Set<(message: ShellMessage) => void>()
  let requests = 0

  function request<K extends HostRequest['kind']>(given: HostRequest & { kind: K }): Promise<Result<Answers[K]>> {
    if (waiting.size >= WAITING) return Promise.resolve(fail(noAnswer('too many requests are pending')))
    return new Promise((resolve) => {
      const number = ++requests
      waiting.set(number, ({ failure, value }) => {
        if (failure) return resolve(fail(failure))
        const read = answers[given.kind].safeParse(value)
        resolve(read.success ? ok(read.data as Answers[K]) : fail(noAnswer('its answer could not be read')))
      })
      post({ type: 'ask', number, ask: given })
    })
  }

  return {
    hear: (message) => {
      if (message.type === 'told') for (const listen of [...listeners]) listen(message.told)
      if (message.type !== 'answer') return
      const answer = waiting.get(message.number)
      waiting.delete(message.number)
      answer?.({ failure: message.failure, value: message.value })
    },
    shell: {
      async promptSave(name) {
        const answer = await request({ kind: 'save', name })
        return answer.ok ? ok(answer.value.path) : answer
      },
      async openLink(url) {
        const answer = await request({ kind: 'link', url })
        return answer.ok ? ok(undefined) : answer
      },
      notify: (notification) => post({ type: 'notify', notification }),
      setMenu: (menu) => post({ type: 'menu', menu }),
      keychain: {
        async state() {
          const answer = await request({ kind: 'keychain' })
          return answer.ok ? answer.value : { can: false, why: answer.error.why ?? answer.error.what }
        },
        async seal(text) {
          const answer = await request({ kind: 'seal', text })
          return answer.ok ? ok(answer.value.sealed) : answer
        },
        async open(sealed) {
          const answer = await request({ kind: 'open', sealed })
          return answer.ok ? ok(answer.value.text) : answer
        },
      },
      async runForeign(task) {
        const answer = await request({ kind: 'foreign', task })
        return answer.ok ? ok(answer.value.text) : answer
      },
      onMessage(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    },
  }
}
