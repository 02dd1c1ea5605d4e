/** Common clock of all threads of a node: integer ns since the node was created. */
export type Clock = () => number

/** @param origin  `process.hrtime.bigint()` when the node was created; threads share that clock. */
export function clockSince(origin: bigint): Clock {
  const offset = Number(process.hrtime.bigint() - origin) - performance.now() * 1e6
  return () => Math.round(performance.now() * 1e6 + offset)
}

/** CPU time of the calling thread, ns. */
export function threadCpuNs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) * 1000
}
