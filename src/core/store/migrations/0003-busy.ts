/** Whether the machine was busy with something else while threads were measured; NULL: measured before this was noted. */
export const calibrationBusy = `
ALTER TABLE calibrations ADD COLUMN busy_cores REAL;
`;
