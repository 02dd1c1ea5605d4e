/** The read-only checklist of one server, told step by step: for a server that is about to be added, and for `Test`. */
import type { CheckEvent, CheckStep, ServerInput } from '#core/api/clusters.ts'
import { LiveServer } from '../../cluster/live/live-server.ts'
import type { SshAccess } from '../../cluster/live/ssh-access.ts'
import { serverCard, shownKeyOf } from './server-card.ts'

/** Ends when the list is through, when it waits for a person, or when nobody takes more of it. */
export async function* checkServer(
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
  let told = ''
  let key = ''
  try {
    for (;;) {
      const steps: CheckStep[] = [...server.steps]
      const text = JSON.stringify(steps)
      if (text !== told) {
        told = text
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
