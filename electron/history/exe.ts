/**
 * The program that a job id names, as far as its shape tells: sites choose the shape with `jobid_name`, and usual ones are
 * `%j.%e.%u`, `%e.%u` (the default of `procname_uid`), `%j.%e` and `%e.%u.%h`. Empty where the id is a number alone or of another shape.
 */
const WITH_JOB = /^\d+(?:[_+]\d+)?\.([^.\d][^.]*(?:\.[^.]+)*?)(?:\.u?\d+)?$/
const WITHOUT_JOB = /^([^.\d][^.]*(?:\.[^.]+)*?)\.u?\d+(?:\.[A-Za-z][\w-]*)?$/

export const exeOf = (jobId: string): string => (WITH_JOB.exec(jobId) ?? WITHOUT_JOB.exec(jobId))?.[1] ?? ''
