/**
 * Streaming readers of counters on a server, by any login: processes with the text of sluice-read in their arguments. Other readers, such
 * as exporters and `lctl` in a cron job, cannot be recognized.
 */
import type { NodeConnection } from '../../base/connection.ts'
import { within } from '../../base/deadline.ts'

/** Lists the processes; the brackets keep the command from finding itself. */
export const FIND_READERS = 'grep -lsa \'print "[s]luice-read 1"\' /proc/[0-9]*/cmdline'

const ANSWER_MS = 10_000
const PROCESS = /^\/proc\/\d+\/cmdline$/

/** Number of streaming readers on a server; undefined if it cannot be determined. */
export async function readersOn(node: NodeConnection): Promise<number | undefined> {
  const ran = await within(node.exec(FIND_READERS), ANSWER_MS)
  // 1: none was found.
  if (!ran.ok || ran.value.code > 1) return undefined
  const lines = ran.value.stdout.split('\n').filter((l) => l !== '')
  return lines.every((l) => PROCESS.test(l)) ? lines.length : undefined
}
