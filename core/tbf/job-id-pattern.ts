/** Pattern of a job id in `jobid={...}`. */
export { starPattern as jobIdPattern } from '../base/star-pattern.ts'
