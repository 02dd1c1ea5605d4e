/** Parts of a job id for display: `4690.python.u1021` is a number and the rest. The id is treated as plain text. */
export interface JobName {
  readonly head: string
  /** Rest after the number, with its leading dot; may be empty. */
  readonly tail: string
  /** Short name for a legend: program without user, else the id. */
  readonly short: string
}

export function jobName(id: string): JobName {
  const dot = id.indexOf('.')
  if (dot <= 0) return { head: id, tail: '', short: id }
  const head = id.slice(0, dot)
  const tail = id.slice(dot)
  return { head, tail, short: /^\d+$/.test(head) ? tail.slice(1).replace(/\.u\d+$/, '') || id : head }
}
