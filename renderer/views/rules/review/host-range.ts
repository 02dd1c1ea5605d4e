/** Formats host names that differ only by a number as ranges: `oss02–12`, `oss02–04, oss07`. */
import { shortHosts } from '#core/base/host-list.ts'

export const hostRange = (hosts: readonly string[]): string =>
  shortHosts(hosts, ({ stem, from, to, tail }) => `${stem}${from}\u2013${to}${tail}`)
