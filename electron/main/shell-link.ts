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

/** @param tell  sends a message to main. */
export function shellLink(tell: (message: FromHost) => void): ShellLink {
  const waiting = new Map<number, (answer: { failure: Failure | null; value?: unknown }) => void>()
  const listeners = new Set<(told: ShellMessage) => void>()
  let asked = 0

  function ask<K extends HostRequest['kind']>(given: HostRequest & { kind: K }): Promise<Result<Answers[K]>> {
    if (waiting.size >= WAITING) return Promise.resolve(fail(noAnswer('too many requests are pending')))
    return new Promise((resolve) => {
      const number = ++asked
      waiting.set(number, ({ failure, value }) => {
        if (failure) return resolve(fail(failure))
        const read = answers[given.kind].safeParse(value)
        resolve(read.success ? ok(read.data as Answers[K]) : fail(noAnswer('its answer could not be read')))
      })
      tell({ type: 'ask', number, ask: given })
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
      async askSave(name) {
        const answer = await ask({ kind: 'save', name })
        return answer.ok ? ok(answer.value.path) : answer
      },
      async openLink(url) {
        const answer = await ask({ kind: 'link', url })
        return answer.ok ? ok(undefined) : answer
      },
      notify: (notification) => tell({ type: 'notify', notification }),
      setMenu: (menu) => tell({ type: 'menu', menu }),
      keychain: {
        async state() {
          const answer = await ask({ kind: 'keychain' })
          return answer.ok ? answer.value : { can: false, why: answer.error.why ?? answer.error.what }
        },
        async seal(text) {
          const answer = await ask({ kind: 'seal', text })
          return answer.ok ? ok(answer.value.sealed) : answer
        },
        async open(sealed) {
          const answer = await ask({ kind: 'open', sealed })
          return answer.ok ? ok(answer.value.text) : answer
        },
      },
      async runForeign(task) {
        const answer = await ask({ kind: 'foreign', task })
        return answer.ok ? ok(answer.value.text) : answer
      },
      onTold(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    },
  }
}
