/** Program of a real node's threads: its monitor's, or one of its clients'. Runs to its end without an event loop. */
import { parentPort, workerData } from 'node:worker_threads'
import { invariant, type Failure } from '#core/base/result.ts'
import { ClientLoop } from './client-loop.ts'
import type { ThreadTask } from './messages.ts'
import { MonitorLoop } from './monitor-loop.ts'
import { NodeMemory } from './node-memory.ts'

function run(task: ThreadTask): void {
  const port = parentPort
  invariant(port !== null, 'this is a thread')
  const refuse = (failure: Failure): void => port.postMessage({ kind: 'refused', failure })
  const node = NodeMemory.of(task.buffer, task)
  if (task.role === 'monitor') {
    const claimed = node.claimMonitor()
    if (claimed.ok) new MonitorLoop(task, node, claimed.value, port).run()
    else refuse(claimed.error)
  } else {
    const access = node.admit(task.slot, task.settings.batch)
    if (access.ok) new ClientLoop(task, node, access.value, (message) => port.postMessage(message)).run()
    else refuse(access.error)
  }
}

run(workerData as ThreadTask)
