/** One clock for all threads of a node: whole ns since the node was made. */
export type Clock = () => number

/** @param origin  `process.hrtime.bigint()` when the node was made; threads share that clock. */
export function clockSince(origin: bigint): Clock {
  const offset = Number(process.hrtime.bigint() - origin) - performance.now() * 1e6
  return () => Math.round(performance.now() * 1e6 + offset)
}

/** CPU time of the calling thread, ns. */
export function threadCpuNs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) * 1000
}
