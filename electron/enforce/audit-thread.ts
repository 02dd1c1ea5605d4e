/**
 * Appends records to the audit in a thread with its own connection, so that flushing to disk does not delay the console. Entries that
 * arrive while a group is written form the next group, which costs as much as one record.
 */
import { parentPort, workerData } from 'node:worker_threads'
import type { AuditThreadAnswer, AuditThreadRequest, AuditThreadTask } from './audit-writer.ts'
import { EnforcementStore } from './store.ts'

/** Time without a group before the head is confirmed, ms: the next group confirms it, too. */
const CONFIRM_MS = 250

function serve(
  { file }: AuditThreadTask,
  post: (answer: AuditThreadAnswer) => void,
): (request: AuditThreadRequest) => void {
  const opened = EnforcementStore.open(file, Date.now())
  let confirm: NodeJS.Timeout | undefined
  return (request) => {
    clearTimeout(confirm)
    if (request === 'close') {
      if (opened.ok) {
        opened.value.chain.confirm()
        opened.value.close()
      }
      parentPort?.close()
      return
    }
    if (!opened.ok) {
      post({ why: `${opened.error.what}: ${opened.error.why}`, isRefused: false })
      return
    }
    const store = opened.value
    try {
      post({ records: store.appendGroup(request) })
      confirm = setTimeout(() => store.chain.confirm(), CONFIRM_MS)
    } catch (e) {
      const why = e instanceof Error ? e.message : String(e)
      post({ why, isRefused: e instanceof Error && e.name === 'AuditRefused' })
    }
  }
}

const port = parentPort
if (port) {
  const post = (answer: AuditThreadAnswer): void => port.postMessage(answer)
  port.on('message', serve(workerData as AuditThreadTask, post))
}
