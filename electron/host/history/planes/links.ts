/** Clients of data nodes, from their rows, and lock resources; their clients only from kept convoys near, as rows of locks name none. */
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
  const resources = (rowsAt(reader, 'lock_resources', atMs, stepMs)?.rows ?? []).flatMap((row) =>
    row.isOthers ? [] : [row.name],
  )
  const clients = new Map(
    nearConvoys(reader, { ...head, atMs }).flatMap(({ id, resource }) => {
      const read = withClients.safeParse(reader.convoyFrame(id))
      return read.success ? [[resource, read.data.clients] as const] : []
    }),
  )
  return {
    clients: rows.filter((row) => !row.isOthers).map(({ name, jobId }) => ({ name, jobId })),
    locks: [...new Set([...resources, ...clients.keys()])].map((key) => ({ key, clients: clients.get(key) ?? [] })),
  }
}
