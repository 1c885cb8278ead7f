/** Made-up weather that is the same for the same place and day, everywhere and always. */

const CONDITIONS = [
  "sunny",
  "partly cloudy",
  "cloudy",
  "light rain",
  "rain",
  "thunderstorm",
  "fog",
];

interface DayWeather {
  date: string;
  condition: string;
  highC: number;
  lowC: number;
  precipitationPercent: number;
  windKph: number;
}

export function weatherOn(location: string, date: string): DayWeather {
  const seed = hash(`${location.trim().toLowerCase()}|${date}`);
  const month = Number(date.slice(5, 7));
  const seasonal = 14 - Math.abs(7 - month) * 4;
  const highC = seasonal + (seed % 11);
  return {
    date,
    condition: CONDITIONS[seed % CONDITIONS.length] ?? "sunny",
    highC,
    lowC: highC - 5 - ((seed >>> 4) % 6),
    precipitationPercent: (seed >>> 8) % 101,
    windKph: (seed >>> 12) % 60,
  };
}

interface Alert {
  event: string;
  severity: "minor" | "moderate" | "severe";
  headline: string;
}

export function alertsOn(location: string, date: string): Alert[] {
  const { condition, windKph } = weatherOn(location, date);
  const alerts: Alert[] = [];
  if (condition === "thunderstorm") {
    alerts.push({
      event: "Thunderstorm",
      severity: "severe",
      headline: `Thunderstorms expected in ${location}`,
    });
  }
  if (windKph > 45) {
    alerts.push({
      event: "Wind",
      severity: "moderate",
      headline: `Gusts up to ${windKph} km/h in ${location}`,
    });
  }
  return alerts;
}

export function addDays(date: string, days: number): string {
  const day = new Date(`${date}T00:00:00Z`);
  day.setUTCDate(day.getUTCDate() + days);
  return day.toISOString().slice(0, 10);
}

/** FNV-1a: small, stable, and good enough to shuffle weather. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}
