/** Clients of data nodes from their rows, and of lock resources from the kept convoys near an instant: rows of locks name no clients. */
import * as z from 'zod'
import { locksFrame } from '#core/api/locks.ts'
import type { HistoryReader } from '../../../history/reader.ts'
import type { RecordedLinks } from '../../views/linked.ts'
import { nearConvoys } from './locks.ts'
import type { PastHead } from './head.ts'
import { rowsAt } from './rows.ts'

const withClients = z.object({ clients: locksFrame.shape.resource.unwrap().shape.clients })

export function pastLinks(reader: HistoryReader, head: PastHead): RecordedLinks {
  const { atMs, stepMs } = head
  if (atMs === null) return { clients: [], locks: [] }
  const rows = rowsAt(reader, 'token_clients', atMs, stepMs)?.rows ?? []
  return {
    clients: rows.filter((row) => !row.isOthers).map(({ name, jobId }) => ({ name, jobId })),
    locks: nearConvoys(reader, { ...head, atMs }).flatMap(({ id, resource }) => {
      const read = withClients.safeParse(reader.convoyFrame(id))
      return read.success ? [{ key: resource, clients: read.data.clients }] : []
    }),
  }
}
