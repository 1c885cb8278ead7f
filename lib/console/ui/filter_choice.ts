/** A choice of a filter, with how many tools it has. */
export interface FilterChoice {
  value: string;
  count: number;
}
